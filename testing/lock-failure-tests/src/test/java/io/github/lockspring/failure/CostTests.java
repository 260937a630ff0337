package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What locks cost, as the server counts it, and what they leave behind.
 */
class CostTests {

	private static final List<String> SUBCOMMANDS = List.of("set", "get", "time", "exists", "del", "pttl", "pexpire",
			"zadd", "zrem", "zpopmin", "publish", "pubsub|numsub");

	private final RedisServer redis = RedisServer.start();

	@AfterEach
	void stop() {
		this.redis.close();
	}

	@ParameterizedTest
	@EnumSource
	void lockWithoutContentionCostsTwoScriptsOfThreeCallsEach(Driver driver) {
		try (Instance instance = Instance.on(driver, this.redis.port())) {
			LockRequest request = LockRequest.of("order:42").waitTime(Duration.ofMinutes(1));
			instance.locks().acquire(request).close();
			// a first answer that was slow has made it try its inbox
			AtomicLong tried = new AtomicLong(-1);
			await().pollInterval(Duration.ofMillis(400))
				.until(() -> tried.getAndSet(this.redis.calls("publish")) == this.redis.calls("publish"));
			// and so may any other
			await().untilAsserted(() -> assertCost(instance.locks(), request));
		}
	}

	private void assertCost(LockTemplate locks, LockRequest request) {
		long scripts = this.redis.calls("evalsha");
		long eval = this.redis.calls("eval");
		long published = this.redis.calls("publish");
		long inside = SUBCOMMANDS.stream().mapToLong(this.redis::calls).sum();
		try (HeldLock lock = locks.acquire(request)) {
			assertThat(lock.isHeld()).isTrue();
			assertThat(lock.remaining()).isPositive();
			assertThat(this.redis.calls("evalsha") - scripts).isEqualTo(1);
		}
		assertThat(this.redis.calls("evalsha") - scripts).isEqualTo(2);
		assertThat(SUBCOMMANDS.stream().mapToLong(this.redis::calls).sum() - inside).isEqualTo(6);
		assertThat(this.redis.calls("eval")).isEqualTo(eval);
		assertThat(this.redis.calls("publish")).isEqualTo(published);
	}

	@Test
	@Tag("h38")
	void fencingTokenIsRememberedForADayAlsoAfterAHandOver() throws Exception {
		try (Instance holder = Instance.on(this.redis.port()); Instance waiting = Instance.on(this.redis.port())) {
			LockRequest request = LockRequest.of("order:42")
				.ttl(Duration.ofHours(1))
				.renew(false)
				.waitTime(Duration.ofMinutes(1));
			HeldLock first = holder.locks().acquire(request);
			CompletableFuture<HeldLock> waiter = CompletableFuture.supplyAsync(() -> waiting.locks().acquire(request));
			await().until(() -> this.redis.exists("{lock:order:42}:queue"));
			first.close();
			HeldLock second = waiter.get(30, TimeUnit.SECONDS);
			String fence = new RedisKeys("lock:").lockAndFencingToken("order:42").get(1);
			assertThat(this.redis.get(fence)).isEqualTo(String.valueOf(second.fencingToken()));
			assertThat(this.redis.pttl(fence)).isGreaterThan(Duration.ofHours(23).toMillis());
			second.close();
		}
	}

	@Test
	void manyRenewedLocksTakeTwoThreadsAndFewScripts() {
		int locks = 1000;
		try (Instance instance = Instance.on(this.redis.port())) {
			LockRequest request = LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1));
			instance.locks().acquire(request).close();
			List<HeldLock> held = new ArrayList<>();
			held.add(instance.locks().acquire(LockRequest.of("first").ttl(Duration.ofSeconds(6))));
			long before = this.redis.calls("evalsha");
			await().atMost(Duration.ofSeconds(30)).until(() -> this.redis.calls("evalsha") > before);
			Set<String> withOne = threads();
			long begin = System.nanoTime();
			for (int i = 0; i < locks; i++) {
				held.add(instance.locks().acquire(LockRequest.of("order:" + i).ttl(Duration.ofSeconds(6))));
			}
			// what is due within a second is renewed together
			long groups = 1 + TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
			long first = this.redis.calls("pexpire");
			await().atMost(Duration.ofSeconds(30)).until(() -> this.redis.calls("pexpire") - first >= locks);
			// in this order: a script between the two counts must not count alone
			long renewed = this.redis.calls("pexpire");
			long sent = this.redis.calls("evalsha");
			await().atMost(Duration.ofSeconds(30)).until(() -> this.redis.calls("pexpire") - renewed >= locks + 1);
			long scripts = this.redis.calls("evalsha") - sent;
			// in batches of 100; the last of each group is smaller, in up to two rounds
			long renewals = this.redis.calls("pexpire") - renewed;
			assertThat(scripts).isLessThanOrEqualTo(renewals / 100 + 2 * groups);
			assertThat(threads()).isEqualTo(withOne);
			assertThat(held).allMatch(HeldLock::isHeld);
			held.forEach(HeldLock::close);
		}
	}

	private static Set<String> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("lock"))
			.collect(Collectors.toSet());
	}

	@Test
	@Timeout(value = 30, unit = TimeUnit.MINUTES)
	void renewalsAreNeverLateAndNothingIsLeftAfterwards() throws Exception {
		int locks = Integer.getInteger("lockspring.leftovers.keys", 20_000);
		// more would only take turns on a small machine
		int threads = 2;
		ExecutorService executor = Executors.newFixedThreadPool(threads);
		try (Instance instance = Instance.patient(Driver.LETTUCE, this.redis.port())) {
			instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
			long memory = usedMemory();
			HeldLock renewed = instance.locks().acquire(LockRequest.of("renewed").ttl(Duration.ofSeconds(6)));
			List<Future<?>> futures = new ArrayList<>();
			for (int t = 0; t < threads; t++) {
				int from = t;
				futures.add(executor.submit(() -> {
					for (int i = from; i < locks; i += threads) {
						instance.locks().acquire(LockRequest.of("order:" + i)).close();
					}
				}));
			}
			for (Future<?> future : futures) {
				future.get(30, TimeUnit.MINUTES);
			}
			assertThat(renewed.isHeld()).isTrue();
			renewed.close();
			// a release that got no reply in time is repeated in the background
			await().untilAsserted(this::assertOnlyFencingTokensAreLeft);
			instance.engine().stop();
			await().until(() -> threads().stream().noneMatch((name) -> name.startsWith("lockspring")));
			instance.events().clear();
			assertThat(usedMemory() - memory).isLessThan(16L * 1024 * 1024);
		}
		finally {
			executor.shutdownNow();
		}
	}

	// apart, so that the list of names is garbage when the memory is looked at
	private void assertOnlyFencingTokensAreLeft() {
		List<String> keys = this.redis.keys();
		assertThat(keys).hasSizeLessThanOrEqualTo(16_384).allMatch((key) -> key.endsWith("}:fence:lock:"));
		assertThat(keys.stream().limit(1000)).allMatch((key) -> this.redis.pttl(key) > 0);
	}

	private static long usedMemory() {
		long least = Long.MAX_VALUE;
		for (int i = 0; i < 3; i++) {
			System.gc();
			least = Math.min(least, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
		}
		return least;
	}

}
