package io.github.lockspring.failure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullAndEmptySource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

/**
 * Keys, times and foreign values that a lock must take as they are or refuse with a clear
 * word; nothing is lost or half done.
 */
class BadInputTests {

	private static final LockRequest ONCE = LockRequest.of("order:42").waitTime(Duration.ZERO);

	private static final RedisServer redis = RedisServer.start();

	private static Instance instance;

	@BeforeAll
	static void start() {
		instance = Instance.patient(Driver.LETTUCE, redis.port());
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
	}

	@BeforeEach
	void flush() {
		redis.flushAll();
	}

	@AfterAll
	static void stop() {
		instance.close();
		redis.close();
	}

	@ParameterizedTest
	@ValueSource(strings = { "order:42", "\uD83D\uDD12\uD83D\uDCE6", "a b\tc\nd", "\0\1\2\u007f", "{order}:42", "a{b",
			"a}b", "{}", "}{", "a{}b{c}", "{a}{b}", "ключ", "g token 1 0 lock", "%s%n", "\"quoted\"" })
	void anyTextIsAKey(String key) {
		LockRequest request = LockRequest.of(key);
		HeldLock lock = instance.locks().acquire(request);
		assertThat(instance.locks().tryAcquire(request.waitTime(Duration.ZERO))).isEmpty();
		assertThat(redis.pttl("lock:" + key)).isPositive();
		lock.extend(Duration.ofMinutes(1));
		lock.close();
		assertThat(redis.exists("lock:" + key)).isFalse();
		assertThat(redis.keys()).allMatch((left) -> redis.pttl(left) > 0);
	}

	@ParameterizedTest
	@NullAndEmptySource
	void nothingIsNoKey(String key) {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of(key))
			.withMessageContaining("null or empty");
	}

	@Test
	void hugeKeyIsRefusedAndNotRepeatedInTheMessage() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("x".repeat(1024 * 1024)))
			.withMessageContaining("1048576")
			.withMessageContaining("4096")
			.satisfies((ex) -> assertThat(ex.getMessage().length()).isLessThan(300));
	}

	@Test
	void keysThatWouldBeOneInUtf8AreRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> LockRequest.of("a\uD83D"))
			.withMessageContaining("index 1")
			.withMessageContaining("hex");
	}

	@Test
	void timesThatMakeNoSenseAreRefused() {
		for (Duration ttl : List.of(Duration.ofNanos(1), Duration.ZERO, Duration.ofSeconds(-1), Duration.ofMillis(99),
				Duration.ofDays(300_000), Duration.ofSeconds(Long.MAX_VALUE))) {
			assertThatIllegalArgumentException().isThrownBy(() -> ONCE.ttl(ttl).renew(false))
				.withMessageContaining("ttl")
				.withMessageContaining(ttl.toString());
		}
		assertThatIllegalArgumentException()
			.isThrownBy(() -> instance.locks().acquire(ONCE.ttl(Duration.ofMillis(299))))
			.withMessageContaining("300ms");
		assertThatIllegalArgumentException().isThrownBy(() -> ONCE.waitTime(Duration.ofMillis(-1)))
			.withMessageContaining("waitTime");
		assertThatIllegalArgumentException().isThrownBy(() -> ONCE.minHold(Duration.ofDays(366)))
			.withMessageContaining("minHold");
		assertThatIllegalArgumentException()
			.isThrownBy(() -> instance.locks()
				.acquire(ONCE.ttl(Duration.ofSeconds(1)).renew(false).maxHold(Duration.ofSeconds(5))))
			.withMessageContaining("maxHold");
	}

	@Test
	void longestTimesWork() {
		Duration year = Duration.ofDays(365);
		try (HeldLock lock = instance.locks()
			.acquire(LockRequest.of("order:42").ttl(year).maxHold(year).waitTime(year))) {
			assertThat(lock.remaining()).isGreaterThan(Duration.ofDays(360));
			assertThat(redis.pttl("lock:order:42")).isGreaterThan(Duration.ofDays(364).toMillis());
		}
	}

	@Test
	void shortestTtlWorks() {
		LockRequest request = LockRequest.of("order:42").ttl(Duration.ofMillis(300));
		// on a busy machine it may be over before it is released
		await().ignoreExceptionsInstanceOf(LockException.class).untilAsserted(() -> {
			try (HeldLock lock = instance.locks().acquire(request)) {
				assertThat(lock.remaining()).isLessThan(Duration.ofMillis(300));
			}
		});
	}

	@Test
	void keyOfAnotherLibraryIsUnavailableAndLeftAlone() {
		redis.command("HSET", "lock:order:42", "a1b2:1", "1");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> instance.locks().acquire(ONCE))
			.withMessageContaining("Lock 'order:42'")
			.withStackTraceContaining("WRONGTYPE")
			.withStackTraceContaining("another library");
		assertThat(redis.command("HGET", "lock:order:42", "a1b2:1")).isEqualTo("1");
		assertThat(redis.keys()).containsExactly("lock:order:42");
	}

	@Test
	void foreignValueIsBusyAndLeftAlone() {
		redis.command("SET", "lock:order:42", "somebody", "PX", "60000");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> instance.locks().acquire(ONCE))
			.withMessageContaining("Lock 'order:42' is busy")
			.withMessageMatching("(?s).*lasts (5\\d|60)s more.*");
		assertThat(redis.get("lock:order:42")).isEqualTo("somebody");
	}

	@Test
	void keyWithoutEndOfLifeIsBusyAndTheMessageSaysSo() {
		redis.command("SET", "lock:order:42", "somebody");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> instance.locks().acquire(ONCE))
			.withMessageContaining("no expiry");
		assertThat(redis.get("lock:order:42")).isEqualTo("somebody");
	}

}
