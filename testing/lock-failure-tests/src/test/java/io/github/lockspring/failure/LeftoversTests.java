package io.github.lockspring.failure;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What locks leave behind, whatever their keys are and however many they were.
 */
class LeftoversTests {

	private final RedisServer redis = RedisServer.start();

	private final Instance instance = Instance.patient(Driver.LETTUCE, this.redis.port());

	@BeforeEach
	void connect() {
		this.instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
	}

	@AfterEach
	void stop() {
		this.instance.close();
		this.redis.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "order:42", "\uD83D\uDD12\uD83D\uDCE6", "a b\tc\nd", "\0\1\2\u007f", "{order}:42", "a{b",
			"a}b", "{}", "}{", "a{}b{c}", "{a}{b}", "ключ", "g token 1 0 lock", "%s%n", "\"quoted\"" })
	void anyTextIsAKey(String key) {
		LockRequest request = LockRequest.of(key);
		HeldLock lock = this.instance.locks().acquire(request);
		assertThat(this.instance.locks().tryAcquire(request.waitTime(Duration.ZERO))).isEmpty();
		assertThat(this.redis.pttl("lock:" + key)).isPositive();
		lock.extend(Duration.ofMinutes(1));
		lock.close();
		assertOnlyFencingTokensAreLeft();
	}

	@Test
	@Timeout(value = 30, unit = TimeUnit.MINUTES)
	void renewalsAreNeverLateAndNothingIsLeftAfterwards() throws Exception {
		int locks = Integer.getInteger("lockspring.leftovers.keys", 20_000);
		AtomicInteger number = new AtomicInteger();
		Callable<Boolean> once = () -> this.instance.locks()
			.execute(LockRequest.of("order:" + number.incrementAndGet()), HeldLock::isHeld);
		// more threads would only take turns on a small machine
		ExecutorService executor = Executors.newFixedThreadPool(2);
		try {
			long memory = usedMemory();
			HeldLock renewed = this.instance.locks().acquire(LockRequest.of("renewed").ttl(Duration.ofSeconds(6)));
			for (Future<Boolean> held : executor.invokeAll(Collections.nCopies(locks, once))) {
				assertThat(held.get()).isTrue();
			}
			assertThat(renewed.isHeld()).isTrue();
			renewed.close();
			// a release that got no reply in time is repeated in the background
			await().untilAsserted(this::assertOnlyFencingTokensAreLeft);
			this.instance.engine().stop();
			await().until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith("lockspring")));
			this.instance.events().clear();
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
