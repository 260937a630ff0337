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
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.Requests;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
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
		Set<Thread> threads = new HashSet<>();
		for (Thread thread : Thread.getAllStackTraces().keySet()) {
			if (thread.getName().startsWith("lockspring-")) {
				threads.add(thread);
			}
		}
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

	@Test
	void f07LossIsDeclaredWhileARenewalNeverReturns() {
		HeldLock lock = this.engine.template().acquire(LockRequest.of("order:42"));
		this.store.hangRenewals("");
		await().atMost(Duration.ofSeconds(20))
			.until(() -> this.events.stream().anyMatch(LockEvent.Lost.class::isInstance));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.store.renewed).isNotEmpty();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	void f07LossInterruptsWorkWhileTheStoreIsSilent() {
		LockRequest request = LockRequest.of("order:42").onLost(OnLost.INTERRUPT);
		assertThatExceptionOfType(InterruptedException.class)
			.isThrownBy(() -> this.engine.template().execute(request, (lock) -> {
				this.store.fallSilent();
				new CountDownLatch(1).await();
				return "woke up";
			}))
			.satisfies((ex) -> assertThat(ex.getSuppressed()).singleElement().isInstanceOf(LockLostException.class));
		assertThat(Thread.interrupted()).isFalse();
	}

	@Test
	void f08MaximumHoldOfAHungHolderFreesTheLockForAnotherInstance() {
		LockRequest request = LockRequest.of("order:42").maxHold(Duration.ofSeconds(2));
		HeldLock hung = this.engine.template().acquire(request);
		LockEngine other = new LockEngine(this.store, SETTINGS, LockEvents.NOBODY);
		try (HeldLock next = other.template()
			.acquire(LockRequest.of("order:42").ttl(Duration.ofMinutes(1)).renew(false))) {
			assertThat(next.fencingToken()).isGreaterThan(hung.fencingToken());
			assertThat(hung.isHeld()).isFalse();
		}
		other.close();
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
	void manyLocksAreRenewedByFewRequestsAndThreads() {
		List<HeldLock> locks = new ArrayList<>();
		for (int i = 0; i < 250; i++) {
			locks.add(this.engine.template().acquire(LockRequest.of("order:" + i).ttl(Duration.ofSeconds(6))));
		}
		await().atMost(Duration.ofSeconds(30))
			.until(() -> this.store.renewed.stream().mapToInt(List::size).sum() >= 500);
		assertThat(locks).allMatch(HeldLock::isHeld);
		assertThat(this.store.renewed).allMatch((batch) -> batch.size() <= 100).hasSizeLessThan(100);
		// those of one round are sent at the same time
		assertThat(this.store.renewingThreads).hasSizeLessThanOrEqualTo(3);
		locks.forEach(HeldLock::close);
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
			locks.add(this.engine.template()
				.acquire(LockRequest.of("order:" + i).ttl(Duration.ofMinutes(1)).renew(false)));
		}
		CompletableFuture<Object> waiting = CompletableFuture.supplyAsync(() -> {
			try {
				return this.engine.template().acquire(LockRequest.of("order:0"));
			}
			catch (RuntimeException ex) {
				return ex;
			}
		});
		this.store.fallSilent();
		long begin = System.nanoTime();
		this.engine.stop();
		Duration took = Duration.ofNanos(System.nanoTime() - begin);
		// 300 ms for the work and 200 ms for a command, twice; a machine may be busy
		assertThat(took).isLessThan(Duration.ofSeconds(15));
		assertThat(waiting.join()).isInstanceOf(RuntimeException.class);
		assertThat(locks).noneMatch(HeldLock::isHeld);
		awaitNoThreads();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> this.engine.template().acquire(LockRequest.of("order:42")));
		locks.forEach((lock) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close));
		await().until(() -> this.events.stream().filter(LockEvent.Lost.class::isInstance).count() == 20);
	}

	@Test
	void f26EngineIsUsableAgainAfterAStopWhoseStoreWasSilent() {
		this.engine.template().acquire(LockRequest.of("order:42"));
		this.store.fallSilent();
		this.engine.stop();
		this.store.answerAgain();
		this.engine.start();
		this.engine.template()
			.executeWithoutResult(LockRequest.of("order:42"), (lock) -> assertThat(lock.isHeld()).isTrue());
	}

	@Test
	@Tag("h11")
	void f07ReleasesThatHadNoResultAreRepeatedWhenTheStoreAnswers() {
		LockRequest request = Requests.ofKeys("a", "b", "c", "d", "e").ttl(Duration.ofMinutes(10)).renew(false);
		HeldLock locks = this.engine.template().acquire(request);
		this.store.fallSilent();
		locks.close();
		await().until(() -> this.store.releases.size() >= 3);
		this.store.answerAgain();
		try (LockEngine other = new LockEngine(this.store, SETTINGS, LockEvents.NOBODY)) {
			await().until(() -> other.template().tryAcquire(request.waitTime(Duration.ZERO)).isPresent());
		}
		await().until(this.engine.registry()::isEmpty);
	}

	@Test
	void f07ReleaseIsRepeatedNoLongerThanItsLeaseLasts() {
		HeldLock lock = this.engine.template().acquire(LockRequest.of("a").ttl(Duration.ofSeconds(3)).renew(false));
		this.store.fallSilent();
		lock.close();
		await().atMost(Duration.ofSeconds(20)).until(() -> this.engine.registry().releases().isEmpty());
		assertThat(this.store.releases).hasSizeGreaterThan(1);
	}

	@Test
	void f07RepeatedReleaseWhoseFirstResultWasLostHarmsNoLaterOwner() {
		Function<ReleaseRequest, ReleaseResult> answer = this.store.onRelease;
		HeldLock lock = this.engine.template().acquire(LockRequest.of("a").ttl(Duration.ofMinutes(10)).renew(false));
		this.store.onRelease = (request) -> {
			answer.apply(request);
			throw new LockUnavailableException("the result is lost");
		};
		lock.close();
		try (LockEngine other = new LockEngine(this.store, SETTINGS, LockEvents.NOBODY)) {
			HeldLock later = other.template().acquire(LockRequest.of("a").ttl(Duration.ofMinutes(10)).renew(false));
			int repeated = this.store.releases.size();
			await().until(() -> this.store.releases.size() > repeated);
			this.store.onRelease = answer;
			await().until(() -> this.engine.registry().releases().isEmpty());
			((KeyedLock) later).verify();
			later.close();
		}
		assertThat(this.events).noneMatch(LockEvent.Lost.class::isInstance);
	}

	@Test
	void f22CallerWaitsForOneReleaseOfASilentStoreAndLeavesTheOthersToTheBackground() {
		HeldLock locks = this.engine.template()
			.acquire(Requests.ofKeys("a", "b", "c", "d", "e", "f", "g", "h", "i", "j")
				.ttl(Duration.ofMinutes(10))
				.renew(false));
		HeldLock another = this.engine.template().acquire(LockRequest.of("k").ttl(Duration.ofMinutes(10)).renew(false));
		this.store.fallSilent();
		locks.close();
		another.close();
		assertThat(this.store.releases.stream().filter(Thread.currentThread()::equals)).hasSize(1);
		this.store.answerAgain();
		await().until(this.engine.registry()::isEmpty);
		HeldLock next = this.engine.template().acquire(LockRequest.of("l").ttl(Duration.ofMinutes(10)).renew(false));
		await().until(() -> !this.engine.registry().client().isSilentFor("l"));
		next.close();
		assertThat(this.store.releases.stream().filter(Thread.currentThread()::equals)).hasSize(2);
	}

	@Test
	void f26StopEndsTheRepeatedReleases() {
		HeldLock lock = this.engine.template().acquire(LockRequest.of("a").ttl(Duration.ofMinutes(10)).renew(false));
		this.store.fallSilent();
		lock.close();
		await().until(() -> this.store.releases.size() >= 3);
		this.engine.stop();
		awaitNoThreads();
	}

	@Test
	@Tag("h34")
	void f22HundredCallersAllLearnInTimeThatTheStoreIsSilent() {
		this.store.fallSilent();
		LockRequest request = LockRequest.of("order:42").waitTime(Duration.ofSeconds(2));
		List<CompletableFuture<Throwable>> callers = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			CompletableFuture<Throwable> result = new CompletableFuture<>();
			callers.add(result);
			Thread thread = new Thread(() -> {
				try {
					this.engine.template().acquire(request);
					result.complete(new AssertionError("acquired"));
				}
				catch (Throwable ex) {
					result.complete(ex);
				}
			});
			thread.setDaemon(true);
			thread.start();
		}
		assertThat(callers)
			.allSatisfy((caller) -> assertThat(caller.get()).isInstanceOf(LockUnavailableException.class));
		this.store.answerAgain();
		this.engine.template().acquire(LockRequest.of("order:42")).close();
		await().until(this.engine.registry()::isEmpty);
	}

}
