package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What can happen to those who wait for a lock, on a real server.
 */
class WaitingFailureTests {

	private static final String KEY = "order:42";

	private static final String QUEUE = "{lock:order:42}:queue";

	private static final LockRequest REQUEST = LockRequest.of(KEY)
		.ttl(Duration.ofSeconds(30))
		.waitTime(Duration.ofSeconds(30));

	private final RedisServer redis = RedisServer.start();

	private final List<Instance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private Instance instance(Driver driver) {
		Instance instance = Instance.on(driver, this.redis.port());
		this.instances.add(instance);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		return instance;
	}

	@AfterEach
	void stop() {
		this.redis.resume();
		this.threads.shutdownNow();
		this.instances.forEach(Instance::close);
		this.redis.close();
	}

	private long queued() {
		return (Long) this.redis.command("ZCARD", QUEUE);
	}

	/** The first of the waiting instances. */
	private String head() {
		return (String) ((List<?>) this.redis.command("ZRANGE", QUEUE, "0", "0")).get(0);
	}

	private int subscribers() {
		return ((List<?>) this.redis.command("PUBSUB", "CHANNELS", "lock:inbox:*")).size();
	}

	@Test
	void f21OneReleaseWakesOneOfFiftyWaitingInstances() throws Exception {
		Instance holder = instance(Driver.LETTUCE);
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(60)).waitTime(Duration.ofMinutes(5));
		HeldLock lock = holder.locks().acquire(request);
		AtomicInteger holding = new AtomicInteger();
		List<Future<HeldLock>> waiters = new ArrayList<>();
		List<Instance> waiting = IntStream.range(0, 50).mapToObj((i) -> instance(Driver.LETTUCE)).toList();
		waiting.forEach(Instance::openInbox);
		// those that cannot be notified poll
		waiting.forEach(Instance::awaitInbox);
		for (Instance each : waiting) {
			LockTemplate locks = each.locks();
			waiters.add(this.threads.submit(() -> {
				HeldLock granted = locks.acquire(request);
				holding.incrementAndGet();
				return granted;
			}));
		}
		await().atMost(Duration.ofSeconds(60)).until(() -> queued() == 50);
		long scripts = scripts();
		long messages = this.redis.calls("publish");
		long start = System.nanoTime();
		lock.close();
		await().atMost(Duration.ofSeconds(30)).until(() -> holding.get() > 0);
		// in this order: a look between the two counts is a script and a message
		long moreMessages = this.redis.calls("publish") - messages;
		long moreScripts = scripts() - scripts;
		double seconds = (System.nanoTime() - start) / 1e9;
		assertThat(holding).hasValue(1);
		assertThat(queued()).isEqualTo(49);
		// each script is the release, or a look that names the owner: one message for
		// each
		assertThat(moreMessages).isLessThanOrEqualTo(moreScripts);
		assertThat(moreScripts).isLessThanOrEqualTo(1 + (long) Math.ceil(50 * (seconds + 1)));
	}

	/** The first one of a connection is sent with its text. */
	private long scripts() {
		return this.redis.calls("evalsha") + this.redis.calls("eval");
	}

	@ParameterizedTest
	@EnumSource
	void f22WorkNeverRunsWithoutALockAndUnavailableIsNotBusy(Driver driver) {
		Instance instance = instance(driver);
		this.redis.kill();
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> instance.locks().execute(REQUEST.waitTime(Duration.ZERO), (lock) -> {
				throw new AssertionError("must not run");
			}))
			.withMessageContaining(KEY);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
		this.redis.restart();
		await().atMost(Duration.ofSeconds(20))
			.ignoreExceptions()
			.until(() -> instance.locks().execute(REQUEST.waitTime(Duration.ZERO), HeldLock::isHeld));
	}

	@ParameterizedTest
	@EnumSource
	@Tag("commit-unreachable-fixed")
	void f22LocksReleasedWhileTheServerIsStoppedAreSoonFreeForThoseWhoDoNotWait(Driver driver) throws Exception {
		LockRequest request = LockRequest.ofKeys("key", IntStream.range(0, 20).boxed().toList())
			.ttl(Duration.ofSeconds(60))
			.renew(false)
			.waitTime(Duration.ZERO);
		Instance other = instance(driver);
		HeldLock locks = instance(driver).locks().acquire(request.waitTime(Duration.ofMinutes(1)));
		this.redis.pause();
		long start = System.nanoTime();
		locks.close();
		// a timeout of one second for all, not for each
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(10));
		TimeUnit.NANOSECONDS.sleep(Duration.ofMillis(2500).toNanos() - (System.nanoTime() - start));
		this.redis.resume();
		// usually within a second
		await().atMost(Duration.ofSeconds(20))
			.ignoreExceptions()
			.until(() -> other.locks().tryAcquire(request).isPresent());
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h34")
	void f22HundredWaitersAreNotifiedWhenTheServerStops(Driver driver) throws Exception {
		assertHundredWaitersAreNotified(driver, this.redis::pause, this.redis::resume);
	}

	@ParameterizedTest
	@EnumSource
	void f22HundredWaitersAreNotifiedWhenTheServerIsKilled(Driver driver) throws Exception {
		assertHundredWaitersAreNotified(driver, this.redis::kill, this.redis::restart);
	}

	private void assertHundredWaitersAreNotified(Driver driver, Runnable fault, Runnable end) throws Exception {
		Instance instance = instance(driver);
		this.redis.command("SET", "lock:" + KEY, "a plain client", "PX", "60000");
		// all have begun to wait long before, also on a busy machine
		Duration waitTime = Duration.ofSeconds(10);
		List<Future<Duration>> waiters = hundred(() -> {
			long start = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> instance.locks().acquire(REQUEST.waitTime(waitTime)));
			return Duration.ofNanos(System.nanoTime() - start);
		});
		await().until(() -> queued() == 1);
		fault.run();
		for (Future<Duration> waiter : waiters) {
			// the wait, one command timeout, and time for a busy machine; one timeout
			// after
			// the other would be 100 s
			assertThat(waiter.get(60, TimeUnit.SECONDS)).isLessThan(waitTime.plusSeconds(1).plusSeconds(15));
		}
		end.run();
		this.redis.command("DEL", "lock:" + KEY);
		await().atMost(Duration.ofSeconds(20))
			.ignoreExceptions()
			.until(() -> instance.locks().execute(REQUEST.waitTime(Duration.ofSeconds(5)), HeldLock::isHeld));
	}

	@ParameterizedTest
	@EnumSource
	void f22NoWaiterIsNotifiedWhenTheServerComesBackWithinTheWait(Driver driver) throws Exception {
		Instance instance = instance(driver);
		this.redis.command("SET", "lock:" + KEY, "a plain client", "PX", "60000");
		AtomicInteger acquired = new AtomicInteger();
		List<Future<Duration>> waiters = hundred(() -> {
			instance.locks().acquire(REQUEST).close();
			acquired.incrementAndGet();
			return Duration.ZERO;
		});
		await().until(() -> queued() == 1);
		this.redis.pause();
		TimeUnit.MILLISECONDS.sleep(2500);
		this.redis.resume();
		this.redis.kill();
		TimeUnit.MILLISECONDS.sleep(1500);
		this.redis.restart();
		for (Future<Duration> waiter : waiters) {
			waiter.get(40, TimeUnit.SECONDS);
		}
		assertThat(acquired).hasValue(100);
	}

	private List<Future<Duration>> hundred(Callable<Duration> work) {
		List<Future<Duration>> futures = new ArrayList<>();
		for (int i = 0; i < 100; i++) {
			futures.add(this.threads.submit(work));
		}
		return futures;
	}

	@Test
	void f23KilledWaiterIsSkipped() throws Exception {
		Instance holder = instance(Driver.LETTUCE);
		Instance second = instance(Driver.LETTUCE);
		HeldLock lock = holder.locks().acquire(REQUEST.ttl(Duration.ofSeconds(60)));
		try (JavaProcess first = HolderProcess.start(this.redis.port(), KEY, Duration.ofSeconds(60))) {
			first.await("waiting");
			await().atMost(Duration.ofSeconds(10)).until(() -> queued() == 1);
			Future<HeldLock> waiter = this.threads.submit(() -> second.locks().acquire(REQUEST));
			await().until(() -> queued() == 2);
			await().until(() -> subscribers() == 2);
			String killed = head();
			first.signal("KILL");
			await().until(() -> subscribers() == 1);
			lock.close();
			assertThat(this.redis.get("lock:" + KEY)).isNotNull().isNotEqualTo(killed);
			assertThat(waiter.get(30, TimeUnit.SECONDS).isHeld()).isTrue();
		}
	}

	@Test
	@Tag("h10")
	void f23StoppedWaiterCostsTheOthersNoMoreThanItsGrant() throws Exception {
		Instance holder = instance(Driver.LETTUCE);
		Instance second = instance(Driver.LETTUCE);
		HeldLock lock = holder.locks().acquire(REQUEST.ttl(Duration.ofSeconds(60)));
		try (JavaProcess first = HolderProcess.start(this.redis.port(), KEY, Duration.ofSeconds(60))) {
			first.await("waiting");
			await().atMost(Duration.ofSeconds(10)).until(() -> queued() == 1);
			Future<HeldLock> waiter = this.threads.submit(() -> second.locks().acquire(REQUEST));
			await().until(() -> queued() == 2);
			first.signal("STOP");
			lock.close();
			// the stopped one was granted 5 s; its ttl is 60 s
			HeldLock next = waiter.get(30, TimeUnit.SECONDS);
			first.signal("CONT");
			// it must not use its grant, however late it reads the message
			await().during(Duration.ofMillis(500)).until(() -> next.isHeld());
			next.close();
			assertThat(Long.parseLong(first.await("held"))).isGreaterThan(next.fencingToken());
		}
	}

	@Test
	void f24HandOverWhoseMessageIsLostIsFoundByTheNextAttempt() throws Exception {
		Instance waiting = instance(Driver.LETTUCE);
		this.redis.command("SET", "lock:" + KEY, "a plain client", "PX", "60000");
		Future<HeldLock> waiter = this.threads.submit(() -> waiting.locks().acquire(REQUEST));
		await().until(() -> queued() == 1);
		// what a release does, without its message
		String head = head();
		this.redis.command("ZREM", QUEUE, head);
		this.redis.command("SET", "lock:" + KEY, head, "PX", "2000");
		assertThat(waiter.get(20, TimeUnit.SECONDS).isHeld()).isTrue();
	}

	@Test
	void f24LostSubscriptionsAreRestoredAndNoWaiterIsForgotten() throws Exception {
		Instance a = instance(Driver.LETTUCE);
		Instance b = instance(Driver.JEDIS);
		// short, so that a lost message does not take long; a lock may be lost by that
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(2));
		List<Future<Integer>> rounds = new ArrayList<>();
		for (Instance instance : List.of(a, b)) {
			rounds.add(this.threads.submit(() -> {
				for (int i = 0; i < 40; i++) {
					HeldLock lock = instance.locks().acquire(request);
					try {
						lock.close();
					}
					catch (LockLostException ex) {
						// the next round acquires it all the same
					}
					this.redis.command("CLIENT", "KILL", "TYPE", "pubsub");
				}
				return 40;
			}));
		}
		for (Future<Integer> round : rounds) {
			assertThat(round.get(100, TimeUnit.SECONDS)).isEqualTo(40);
		}
	}

	@Test
	@Tag("h23")
	void f29OppositeOrdersNeverWaitForEachOther() throws Exception {
		Instance a = instance(Driver.LETTUCE);
		Instance b = instance(Driver.LETTUCE);
		List<Future<Integer>> rounds = new ArrayList<>();
		for (int t = 0; t < 4; t++) {
			Instance instance = (t % 2 == 0) ? a : b;
			LockRequest request = (t < 2) ? LockRequest.ofKeys("account", List.of(1, 2))
					: LockRequest.ofKeys("account", List.of(2, 1));
			rounds.add(this.threads.submit(() -> {
				for (int i = 0; i < 25; i++) {
					instance.locks().execute(request.waitTime(Duration.ofSeconds(20)), HeldLock::isHeld);
				}
				return 25;
			}));
		}
		for (Future<Integer> round : rounds) {
			assertThat(round.get(60, TimeUnit.SECONDS)).isEqualTo(25);
		}
	}

	@Test
	void f26StopWithLocksHeldWaitedForAndLostEndsInTime() throws Exception {
		Instance instance = Instance.patient(Driver.LETTUCE, this.redis.port());
		Instance other = instance(Driver.LETTUCE);
		HeldLock held = instance.locks().acquire(LockRequest.of("held"));
		HeldLock lost = instance.locks().acquire(LockRequest.of("lost").ttl(Duration.ofSeconds(1)).renew(false));
		HeldLock theirs = other.locks().acquire(LockRequest.of("theirs"));
		Future<HeldLock> waiter = this.threads
			.submit(() -> instance.locks().acquire(LockRequest.of("theirs").waitTime(Duration.ofMinutes(5))));
		await().until(() -> this.redis.exists("{lock:theirs}:queue") && !lost.isHeld());
		CompletableFuture.runAsync(instance::close).get(30, TimeUnit.SECONDS);
		assertThat(held.isHeld()).isFalse();
		assertThat(this.redis.exists("lock:held")).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waiter.get(30, TimeUnit.SECONDS))
			.withMessageContaining("stopping");
		await().until(() -> !this.redis.exists("{lock:theirs}:queue"));
		theirs.close();
	}

}
