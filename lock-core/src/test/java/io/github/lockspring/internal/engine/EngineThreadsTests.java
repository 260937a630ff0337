package io.github.lockspring.internal.engine;

import java.net.URL;
import java.net.URLClassLoader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.Future;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Requests;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The engine at work, with its own threads and in real time: what they do while the store
 * hangs, and that they end.
 */
@Timeout(60)
class EngineThreadsTests {

	static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(2), Duration.ofSeconds(30), null,
			Duration.ofMillis(200), Duration.ofMillis(300), false);

	private final Set<Thread> before = threads();

	private final FaultyStore store = new FaultyStore();

	private final List<LockEvent> events = new CopyOnWriteArrayList<>();

	private volatile Runnable onEvent = () -> {
	};

	private final LockEngine engine = new LockEngine(this.store, SETTINGS, (event) -> {
		this.events.add(event);
		this.onEvent.run();
	});

	@AfterEach
	void stop() {
		this.store.answerAgain();
		this.engine.close();
		awaitNoThreads();
		this.store.close();
	}

	/** Those of all engines in this process. */
	private static Set<Thread> threads() {
		Set<Thread> threads = new HashSet<>(Thread.getAllStackTraces().keySet());
		threads.removeIf((thread) -> !thread.getName().startsWith("lockspring-"));
		return threads;
	}

	private Set<Thread> ownThreads() {
		Set<Thread> threads = threads();
		threads.removeAll(this.before);
		return threads;
	}

	private void awaitNoThreads() {
		await().atMost(Duration.ofSeconds(30)).until(() -> ownThreads().isEmpty());
	}

	/** In the common pool of Java 25, a driver's handshake would not be finished. */
	@Test
	void callersThatWaitDoNotUseUpTheThreadsOfAForkJoinPool() {
		ForkJoinPool pool = new ForkJoinPool(1);
		try {
			HeldLock held = this.engine.template().acquire(LockRequest.of("k"));
			List<Future<?>> waiting = new ArrayList<>();
			for (int i = 0; i < 3; i++) {
				waiting.add(pool.submit(() -> this.engine.template()
					.acquire(LockRequest.of("k").waitTime(Duration.ofMinutes(1)))
					.close()));
			}
			assertThat(pool.submit(() -> "done")).succeedsWithin(Duration.ofSeconds(20));
			held.close();
			assertThat(waiting).allSatisfy((each) -> assertThat(each).succeedsWithin(Duration.ofSeconds(20)));
		}
		finally {
			pool.shutdownNow();
		}
	}

	@Test
	void threadsHaveNothingOfTheThreadThatNeedsThemFirst() throws Exception {
		InheritableThreadLocal<String> user = new InheritableThreadLocal<>();
		Map<String, String> seen = new ConcurrentHashMap<>();
		Set<Thread> running = ConcurrentHashMap.newKeySet();
		ClassLoader other = new URLClassLoader(new URL[0]);
		Runnable look = () -> seen.put(Thread.currentThread().getName(),
				user.get() + " " + (Thread.currentThread().getContextClassLoader() == other));
		this.store.onThread(look);
		this.onEvent = look;
		Thread first = new Thread(() -> {
			user.set("alice");
			Thread.currentThread().setContextClassLoader(other);
			HeldLock lock = this.engine.template().acquire(LockRequest.of("lost"));
			await().until(() -> !this.store.renewed.isEmpty());
			running.addAll(ownThreads());
			this.store.lose("lost");
			await().until(() -> !lock.isHeld());
		});
		first.start();
		first.join();
		await().until(() -> seen.keySet().containsAll(List.of("lockspring-io", "lockspring-events")));
		assertThat(seen).containsEntry("lockspring-io", "null false").containsEntry("lockspring-events", "null false");
		assertThat(running).extracting(Thread::getName).contains("lockspring-watchdog");
		assertThat(running).extracting(Thread::getContextClassLoader).doesNotContain(other);
	}

	@Test
	void onlyTheWatchdogLivesUntilTheStop() {
		HeldLock lock = this.engine.template().acquire(LockRequest.of("order:42").ttl(Duration.ofDays(1)).renew(false));
		lock.close();
		assertThat(this.engine.registry().isEmpty()).isTrue();
		await().atMost(Duration.ofSeconds(30))
			.untilAsserted(
					() -> assertThat(ownThreads()).extracting(Thread::getName).containsExactly("lockspring-watchdog"));
		this.engine.stop();
		awaitNoThreads();
	}

	@Test
	void threadsThatAreInterruptedGoOnAndStillSleep() {
		HeldLock lock = this.engine.template().acquire(LockRequest.of("order:42").ttl(Duration.ofSeconds(4)));
		Set<Thread> interrupted = ownThreads();
		interrupted.forEach(Thread::interrupt);
		// with the flag set it could not sleep any more
		await().until(() -> interrupted.stream().noneMatch(Thread::isInterrupted));
		int renewed = this.store.renewed.size();
		await().atMost(Duration.ofSeconds(20)).untilAsserted(() -> {
			assertThat(this.events).hasSize(1);
			assertThat(this.store.renewed).hasSizeGreaterThanOrEqualTo(renewed + 2);
		});
		assertThat(lock.isHeld()).isTrue();
		lock.close();
	}

	@Test
	void f26StopReturnsWhileTheStoreIsSilent() {
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			locks.add(this.engine.template().acquire(lasting("order:" + i)));
		}
		CompletableFuture<HeldLock> waiting = CompletableFuture
			.supplyAsync(() -> this.engine.template().acquire(LockRequest.of("order:0")));
		this.store.fallSilent();
		long begin = System.nanoTime();
		this.engine.stop();
		Duration took = Duration.ofNanos(System.nanoTime() - begin);
		// 300 ms for the work and 200 ms for a command, twice; a machine may be busy
		assertThat(took).isLessThan(Duration.ofSeconds(15));
		assertThatExceptionOfType(CompletionException.class).isThrownBy(waiting::join);
		assertThat(locks).noneMatch(HeldLock::isHeld);
		awaitNoThreads();
		locks.forEach((lock) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close));
		await().until(() -> this.events.stream().filter(LockEvent.Lost.class::isInstance).count() == 20);
	}

	/** Not renewed, and not over during a test. */
	private static LockRequest lasting(String... keys) {
		return Requests.ofKeys(keys).ttl(Duration.ofMinutes(10)).renew(false);
	}

	@Test
	void f22CallerWaitsForOneReleaseOfASilentStoreAndLeavesTheOthersToTheBackground() {
		HeldLock locks = this.engine.template().acquire(lasting("a", "b", "c", "d", "e", "f", "g", "h", "i", "j"));
		HeldLock another = this.engine.template().acquire(lasting("k"));
		this.store.fallSilent();
		locks.close();
		another.close();
		assertThat(this.store.releases.stream().filter(Thread.currentThread()::equals)).hasSize(1);
		this.store.answerAgain();
		await().until(this.engine.registry()::isEmpty);
		HeldLock next = this.engine.template().acquire(lasting("l"));
		await().until(() -> !this.engine.registry().client().isSilentFor("l"));
		next.close();
		assertThat(this.store.releases.stream().filter(Thread.currentThread()::equals)).hasSize(2);
	}

	@Test
	@Tag("h34")
	void f22HundredCallersAllLearnInTimeThatTheStoreIsSilent() {
		this.store.fallSilent();
		LockRequest request = LockRequest.of("order:42").waitTime(Duration.ofSeconds(2));
		List<CompletableFuture<HeldLock>> callers = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			callers.add(CompletableFuture.supplyAsync(() -> this.engine.template().acquire(request),
					(task) -> new Thread(task).start()));
		}
		assertThat(callers)
			.allSatisfy((caller) -> assertThatExceptionOfType(CompletionException.class).isThrownBy(caller::join)
				.withCauseInstanceOf(LockUnavailableException.class));
		this.store.answerAgain();
		this.engine.template().acquire(LockRequest.of("order:42")).close();
		await().until(this.engine.registry()::isEmpty);
	}

}
