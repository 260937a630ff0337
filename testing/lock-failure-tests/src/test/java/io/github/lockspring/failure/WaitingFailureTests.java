package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What can happen to those who wait for a lock, on a real server.
 */
class WaitingFailureTests {

	private static final String QUEUE = "{lock:order:42}:queue";

	private static final LockRequest REQUEST = LockRequest.of("order:42")
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

	/** The first script of a connection is sent with its text. */
	private long scripts() {
		return this.redis.calls("evalsha") + this.redis.calls("eval");
	}

	@ParameterizedTest
	@ValueSource(ints = { 5, 50 })
	void f21HandOverCostsTheSameWithFiftyInstancesAsWithFive(int count) throws Exception {
		LockRequest request = REQUEST.ttl(Duration.ofSeconds(60)).waitTime(Duration.ofMinutes(5));
		HeldLock lock = instance(Driver.LETTUCE).locks().acquire(request);
		List<Instance> waiting = Stream.generate(() -> instance(Driver.LETTUCE)).limit(count).toList();
		waiting.forEach(Instance::openInbox);
		// those that cannot be notified poll
		waiting.forEach(Instance::awaitInbox);
		List<? extends Future<?>> waiters = waiting.stream()
			.map((each) -> this.threads.submit(() -> each.locks().acquire(request).close()))
			.toList();
		await().until(() -> queued() == count);
		long scripts = scripts();
		long messages = this.redis.calls("publish");
		long start = System.nanoTime();
		lock.close();
		for (Future<?> waiter : waiters) {
			waiter.get(60, TimeUnit.SECONDS);
		}
		// who waits for a second makes another attempt, with a script and a message
		double attempts = (System.nanoTime() - start) / 1e9;
		assertThat((double) (scripts() - scripts) / count).isBetween(1.0, 2.5 + attempts);
		assertThat((double) (this.redis.calls("publish") - messages) / count).isLessThan(2.5 + attempts);
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

}
