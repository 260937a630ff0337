package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
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

	final List<LockEvent> events = new ArrayList<>();

	final RecordedNumbers recorder = new RecordedNumbers();

	private final Queue<Runnable> tasks = new ConcurrentLinkedQueue<>();

	/** Takes what is for the background thread. */
	volatile Consumer<Runnable> background = this.tasks::add;

	private final List<Running<?>> started = new ArrayList<>();

	volatile Consumer<LockEvent> onEvent = (event) -> {
	};

	final LockEngine engine = new LockEngine(() -> new KeyLockRegistry(this.store, settings(), this::record,
			this.recorder, this.time, new EngineThreads.Executors((task) -> this.background.accept(task),
					(task) -> this.background.accept(task), Runnable::run, (task) -> {
					})));

	/** Of the first start. */
	final KeyLockRegistry registry = this.engine.registry();

	ScriptedStore newStore() {
		return new ScriptedStore();
	}

	EngineSettings settings() {
		return EngineSettings.defaults();
	}

	private void record(LockEvent event) {
		synchronized (this.events) {
			this.events.add(event);
		}
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
				return this.result.get(30, TimeUnit.SECONDS);
			}
			catch (ExecutionException ex) {
				if (ex.getCause() instanceof RuntimeException failure) {
					throw failure;
				}
				throw new IllegalStateException(ex);
			}
			catch (InterruptedException | TimeoutException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	<T> Running<T> start(Supplier<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.get());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		thread.setDaemon(true);
		thread.start();
		Running<T> running = new Running<>(thread, result);
		this.started.add(running);
		return running;
	}

	/** Renewed, 30 s, waits for a minute. */
	LockRequest request() {
		return LockRequest.of(KEY).ttl(TTL).waitTime(Duration.ofMinutes(1));
	}

	Running<HeldLock> acquire(LockRequest request) {
		return start(() -> this.engine.template().acquire(request));
	}

	/** Starts a caller and has its first look answered with busy. */
	Waiting waiting(LockRequest request, long lastFencingToken) {
		Running<HeldLock> running = acquire(request);
		ScriptedStore.Asked look = this.store.nextLook();
		look.busy(TTL, lastFencingToken);
		this.time.awaitParked(running.thread);
		return new Waiting(running, look);
	}

	/**
	 * A caller that waits.
	 *
	 * @param running the caller
	 * @param attempt its first attempt
	 */
	record Waiting(Running<HeldLock> running, ScriptedStore.Asked attempt) {
	}

	/** A lock acquired by a first look. */
	HeldLock held(LockRequest request, long fencingToken) {
		Running<HeldLock> running = acquire(request);
		this.store.nextLook().acquired(fencingToken);
		return running.get();
	}

	/** What happened, of one kind. */
	<E extends LockEvent> List<E> events(Class<E> kind) {
		synchronized (this.events) {
			return this.events.stream().filter(kind::isInstance).map(kind::cast).toList();
		}
	}

	/** Time passes as an engine at work would see it pass. */
	void pass(Duration duration) {
		advance(duration);
		tick();
		runBackground();
	}

	/** Nothing is left: no entry, no token. */
	void assertNothingLeft() {
		runBackground();
		assertNothingKnown();
	}

	/** Whether this instance knows any key or token. */
	boolean isAnythingKnown() {
		return !this.engine.registry().isEmpty();
	}

	void assertNothingKnown() {
		assertThat(isAnythingKnown()).as("entries and tokens").isFalse();
	}

	/** The token of the last attempt. */
	OwnerToken token() {
		return this.store.looks.get(this.store.looks.size() - 1).token();
	}

	/** What is held of a key, in the present instance. */
	KeyState.Held owned(String key) {
		return owned(this.registry, key);
	}

	/** What is held of a key in an instance. */
	static KeyState.Held owned(KeyLockRegistry registry, String key) {
		KeyLock lock = Objects.requireNonNull(registry.present(key), () -> "nothing of " + key);
		return Objects.requireNonNull(lock.read((state, waiting) -> (state != null) ? state.held() : null),
				() -> "nothing is held of " + key);
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

	void tick() {
		this.registry.watchdog().round();
	}

	/** Time passes, and what is due is done. */
	void advance(Duration duration) {
		this.time.advance(duration);
		tick();
	}

}
