package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.AfterEach;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An engine whose clock, store, messages and background work are in a test's hand.
 */
abstract class EngineFixture {

	static final String KEY = "order:42";

	static final Duration TTL = Duration.ofSeconds(30);

	/** Drift of a lease of 30 s. */
	static final Duration DRIFT = Duration.ofMillis(302);

	/** Everything runs on the thread that asks for it, and the watchdog when told to. */
	static final EngineThreads.Executors NO_THREADS = new EngineThreads.Executors(Runnable::run, Runnable::run,
			Runnable::run, (task) -> {
			});

	final FakeTime time = new FakeTime();

	final ScriptedStore store = newStore();

	final List<LockEvent> events = new CopyOnWriteArrayList<>();

	final RecordedNumbers recorder = new RecordedNumbers();

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	/** Takes what is for the background thread. */
	volatile Consumer<Runnable> background = this.tasks::add;

	/** Takes what listeners and the log are told. */
	Consumer<Runnable> eventThread = Runnable::run;

	/** Takes the watchdog, which a test runs itself. */
	Consumer<Runnable> watchdogThread = (task) -> {
	};

	private final List<Running<?>> started = new ArrayList<>();

	volatile Consumer<LockEvent> onEvent = (event) -> {
	};

	final LockEngine engine = new LockEngine(this.store, (threads) -> new KeyLockRegistry(this.store, settings(),
			this::record, this.recorder, null, this.time,
			new EngineThreads.Executors((task) -> this.background.accept(task), (task) -> this.background.accept(task),
					(task) -> this.eventThread.accept(task), (task) -> this.watchdogThread.accept(task))),
			UnitOfWork.NONE);

	final LockTemplate template = this.engine.template();

	/** Of the first start. */
	final KeyLockRegistry registry = this.engine.registry();

	ScriptedStore newStore() {
		return new ScriptedStore();
	}

	EngineSettings settings() {
		return EngineSettings.defaults();
	}

	private void record(LockEvent event) {
		this.events.add(event);
		this.onEvent.accept(event);
	}

	@AfterEach
	void endThreads() throws InterruptedException {
		for (Running<?> running : this.started) {
			running.thread.interrupt();
			running.thread.join(TimeUnit.SECONDS.toMillis(30));
		}
	}

	/** Something that runs on a thread of its own. */
	record Running<T>(Thread thread, CompletableFuture<T> result) {

		T get() {
			try {
				return this.result.orTimeout(30, TimeUnit.SECONDS).join();
			}
			catch (CompletionException ex) {
				throw (ex.getCause() instanceof RuntimeException failure) ? failure : new IllegalStateException(ex);
			}
		}

	}

	<T> Running<T> start(Supplier<T> work) {
		AtomicReference<Thread> thread = new AtomicReference<>();
		CompletableFuture<T> result = CompletableFuture.supplyAsync(work, (task) -> thread.set(new Thread(task)));
		Running<T> running = new Running<>(thread.get(), result);
		this.started.add(running);
		running.thread.setDaemon(true);
		running.thread.start();
		return running;
	}

	/** Starts a stop, which waits for something. */
	Running<Boolean> stopping() {
		Running<Boolean> stopping = start(() -> {
			this.engine.stop();
			return true;
		});
		this.time.awaitParked(stopping.thread);
		return stopping;
	}

	/** Renewed, 30 s, waits for a minute. */
	LockRequest request() {
		return LockRequest.of(KEY).ttl(TTL).waitTime(Duration.ofMinutes(1));
	}

	Running<HeldLock> acquire(LockRequest request) {
		return start(() -> this.engine.template().acquire(request));
	}

	/** Starts a caller whose first attempt waits for its answer. */
	Waiting asking(LockRequest request) {
		Running<HeldLock> running = acquire(request);
		ScriptedStore.Asked attempt = this.store.nextLook();
		// otherwise the answer could reach the engine later than the test goes on
		this.time.awaitParked(running.thread());
		return new Waiting(running, attempt);
	}

	/** Starts a caller whose first attempt is answered with busy. */
	Waiting waiting(LockRequest request, long lastFencingToken) {
		Waiting waiting = asking(request);
		waiting.attempt.busy(TTL, lastFencingToken);
		this.time.awaitParked(waiting.thread());
		return waiting;
	}

	/**
	 * A caller that waits.
	 *
	 * @param running the caller
	 * @param attempt its first attempt
	 */
	record Waiting(Running<HeldLock> running, ScriptedStore.Asked attempt) {

		OwnerToken token() {
			return this.attempt.token();
		}

		Thread thread() {
			return this.running.thread;
		}

		boolean isDone() {
			return this.running.result.isDone();
		}

		HeldLock get() {
			return this.running.get();
		}

	}

	/** A lock acquired by a first attempt. */
	HeldLock held(LockRequest request, long fencingToken) {
		Waiting asking = asking(request);
		asking.attempt.acquired(fencingToken);
		return asking.get();
	}

	/** A message hands the lock over to one that waits. */
	HeldLock grant(Waiting waiting, long fencingToken) {
		this.store.messages().granted(KEY, waiting.token(), fencingToken, false);
		return waiting.get();
	}

	/** From now on no thread can be started. */
	void failToStartThreads() {
		this.background = (task) -> {
			throw new OutOfMemoryError("unable to create native thread");
		};
	}

	/** What happened, of one kind. */
	<E extends LockEvent> List<E> events(Class<E> kind) {
		return this.events.stream().filter(kind::isInstance).map(kind::cast).toList();
	}

	/** Time passes as an engine at work would see it pass. */
	void pass(Duration duration) {
		advance(duration);
		this.registry.watchdog().round();
		runBackground();
	}

	/** Time passes second by second, and the lock is held all the time. */
	void passHeld(HeldLock lock, int seconds) {
		for (int second = 1; second <= seconds; second++) {
			pass(Duration.ofSeconds(1));
			assertThat(lock.isHeld()).as("after %s s", second).isTrue();
		}
	}

	/** Nothing is left: no entry, no token. */
	void assertNothingLeft() {
		runBackground();
		assertThat(this.engine.registry().isEmpty()).as("neither entries nor tokens").isTrue();
	}

	/** The token of the last attempt. */
	OwnerToken token() {
		return this.store.looks.get(this.store.looks.size() - 1).token();
	}

	/** How long the key of a caller that waits will not be asked for by itself. */
	Duration untilNextAttempt() {
		KeyLock lock = Objects.requireNonNull(this.registry.present(KEY));
		return Duration.ofNanos(lock.due() - this.time.nanoTime());
	}

	/** Starts a caller that waits behind others of this instance. */
	Running<HeldLock> waitingBehind(LockRequest request) {
		Running<HeldLock> running = acquire(request);
		this.time.awaitParked(running.thread);
		return running;
	}

	/** Carries out what was given to the background threads. */
	void runBackground() {
		Runnable task;
		while ((task = this.tasks.poll()) != null) {
			task.run();
		}
	}

	/** Time passes, and what is due is done. */
	void advance(Duration duration) {
		this.time.advance(duration);
		this.registry.watchdog().round();
	}

}
