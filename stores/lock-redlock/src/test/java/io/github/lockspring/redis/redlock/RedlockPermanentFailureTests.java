package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.Instance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * What no wait mends at a majority of the nodes is reported at once; what a wait may mend
 * is waited for.
 */
class RedlockPermanentFailureTests {

	/** Longer than any test takes. */
	private static final Duration WAIT_TIME = Duration.ofMinutes(5);

	private static final Duration SHORT_WAIT_TIME = Duration.ofMillis(200);

	private static final String WRONG_PASSWORD = "battery-staple";

	@ParameterizedTest
	@EnumSource
	void redlockNodesDecideByTheirMajority(Driver driver) throws Exception {
		try (RedisServer open = RedisServer.start();
				RedisServer closed = RedisServer.start();
				RedisServer third = RedisServer.start()) {
			closed.command("CONFIG", "SET", "requirepass", "correct-horse");
			third.kill();
			RedisStandaloneConfiguration login = at(closed);
			login.setUsername("nobody");
			login.setPassword(WRONG_PASSWORD);
			RedisConnectionFactory wrongPassword = driver.factory(login);
			RedisConnectionFactory unknownHost = driver
				.factory(new RedisStandaloneConfiguration("redis.invalid", 6379));
			RedisConnectionFactory working = driver.factory(at(open));
			RedisConnectionFactory down = driver.factory(at(third));
			try (Instance instance = redlock(wrongPassword, unknownHost, working)) {
				// a busy node may not reply within its timeout, which the message says
				// then
				await().untilAsserted(() -> assertThat(message(instance, WAIT_TIME, true))
					.contains("1 of 3 nodes can vote, 2 needed: ")
					.contains(closed.address() + " (database 0, user 'nobody'): WRONGPASS ")
					.contains("redis.invalid:6379: unknown host ("));
			}
			try (Instance instance = redlock(wrongPassword, down, working)) {
				await().untilAsserted(() -> assertThat(message(instance, SHORT_WAIT_TIME, false))
					.contains(third.address() + ": Connection refused"));
				CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> acquireAndRelease(instance));
				third.restart();
				waiter.get(1, TimeUnit.MINUTES);
			}
		}
	}

	private static String message(Instance instance, Duration waitTime, boolean permanent) {
		long start = System.nanoTime();
		LockUnavailableException failure = catchThrowableOfType(LockUnavailableException.class,
				() -> instance.locks().acquire(LockRequest.of("k").waitTime(waitTime)));
		assertThat(failure.isPermanent()).as(failure.getMessage()).isEqualTo(permanent);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(WAIT_TIME.dividedBy(2));
		assertThat(failure).hasMessageContaining("Lock 'k' could not be requested");
		String reason = String.valueOf(failure.getCause().getMessage());
		assertThat(reason).doesNotContain(WRONG_PASSWORD);
		return reason;
	}

	private static void acquireAndRelease(Instance instance) {
		instance.locks().acquire(LockRequest.of("k").waitTime(WAIT_TIME)).close();
	}

	private static Instance redlock(RedisConnectionFactory... nodes) {
		return Instance
			.over(RedlockLockStore.builder(List.of(nodes)).commandTimeout(StoreFixture.PATIENT).durable(true).build())
			.start();
	}

	private static RedisStandaloneConfiguration at(RedisServer server) {
		return new RedisStandaloneConfiguration(server.host(), server.port());
	}

}
