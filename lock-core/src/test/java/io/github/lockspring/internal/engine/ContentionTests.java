package io.github.lockspring.internal.engine;

import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.function.Executable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Many threads of two instances want the same locks.
 */
@Timeout(120)
class ContentionTests {

	private static final LockRequest PATIENT = LockRequest.of("counter").waitTime(Duration.ofMinutes(2));

	private final LockStore store = new MemoryLockStore();

	private final LockEngine[] engines = { new LockEngine(this.store, EngineSettings.defaults(), LockEvents.NOBODY),
			new LockEngine(this.store, EngineSettings.defaults(), LockEvents.NOBODY) };

	private final List<CompletableFuture<Void>> results = new ArrayList<>();

	/** Neither volatile nor atomic: only the lock keeps it right. */
	private int counter;

	private long lastToken;

	@AfterEach
	void stop() {
		for (LockEngine engine : this.engines) {
			engine.close();
		}
		this.store.close();
	}

	private Runnable reporting(Executable work) {
		CompletableFuture<Void> result = new CompletableFuture<>();
		this.results.add(result);
		return () -> {
			try {
				work.execute();
				result.complete(null);
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		};
	}

	private Thread start(Executable work) {
		Thread thread = new Thread(reporting(work));
		thread.setDaemon(true);
		thread.start();
		return thread;
	}

	private void join() throws InterruptedException, ExecutionException, TimeoutException {
		for (CompletableFuture<Void> result : this.results) {
			result.get(90, TimeUnit.SECONDS);
		}
		for (LockEngine engine : this.engines) {
			await().untilAsserted(() -> assertThat(engine.registry().isEmpty()).isTrue());
		}
	}

	private void count(HeldLock lock) {
		assertThat(lock.fencingToken()).isGreaterThan(this.lastToken);
		this.lastToken = lock.fencingToken();
		int present = this.counter;
		if (ThreadLocalRandom.current().nextInt(16) == 0) {
			Thread.yield();
		}
		this.counter = present + 1;
	}

	/** On a busy machine the thread whose attempt is under way may run late. */
	private static Optional<HeldLock> tryAcquire(LockEngine engine, LockRequest request) {
		try {
			return engine.template().tryAcquire(request);
		}
		catch (LockUnavailableException ex) {
			return Optional.empty();
		}
	}

	@Test
	void counterThatManyThreadsOfTwoInstancesRaiseIsRight() throws Exception {
		int rounds = 150;
		for (LockEngine engine : this.engines) {
			for (Duration waitTime : List.of(Duration.ZERO, Duration.ofMillis(3), Duration.ofMillis(30))) {
				start(() -> {
					for (int round = 0; round < rounds; round++) {
						engine.template().executeWithoutResult(PATIENT, this::count);
					}
				});
				start(() -> {
					for (int round = 0; round < rounds;) {
						Optional<HeldLock> lock = tryAcquire(engine, PATIENT.waitTime(waitTime));
						if (lock.isPresent()) {
							count(lock.get());
							lock.get().close();
							round++;
						}
						else {
							Thread.yield();
						}
					}
				});
			}
		}
		join();
		assertThat(this.counter).isEqualTo(2 * 6 * rounds);
	}

	@Test
	void counterIsRightWhenCallersAreInterruptedAtAnyPoint() throws Exception {
		int[] counted = new int[1];
		List<Thread> callers = new ArrayList<>();
		for (LockEngine engine : this.engines) {
			for (int i = 0; i < 3; i++) {
				callers.add(start(() -> {
					for (int round = 0; round < 150; round++) {
						try {
							engine.template().executeWithoutResult(PATIENT, (lock) -> {
								count(lock);
								counted[0]++;
							});
						}
						catch (LockInterruptedException ex) {
							assertThat(Thread.interrupted()).isTrue();
						}
					}
				}));
			}
		}
		while (callers.stream().anyMatch(Thread::isAlive)) {
			callers.get(ThreadLocalRandom.current().nextInt(callers.size())).interrupt();
			Thread.yield();
		}
		join();
		assertThat(this.counter).isEqualTo(counted[0]).isPositive();
	}

	@Test
	void virtualThreadsThatWaitDoNotOccupyTheirCarriersAndAllGetTheLock() throws Exception {
		Method startVirtualThread = virtualThreads();
		HeldLock held = this.engines[0].template().acquire(LockRequest.of("counter"));
		// more than any machine has carriers
		for (int i = 0; i < 1000; i++) {
			LockEngine engine = this.engines[i % 2];
			startVirtualThread.invoke(null,
					reporting(() -> engine.template().executeWithoutResult(PATIENT, this::count)));
		}
		CompletableFuture<Boolean> other = new CompletableFuture<>();
		startVirtualThread.invoke(null, (Runnable) () -> other.complete(true));
		assertThat(other.get(30, TimeUnit.SECONDS)).isTrue();
		held.close();
		join();
		assertThat(this.counter).isEqualTo(1000);
	}

	private static Method virtualThreads() {
		assumeThat(Runtime.version().feature()).as("JDK with virtual threads").isGreaterThanOrEqualTo(21);
		try {
			return Thread.class.getMethod("startVirtualThread", Runnable.class);
		}
		catch (NoSuchMethodException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
