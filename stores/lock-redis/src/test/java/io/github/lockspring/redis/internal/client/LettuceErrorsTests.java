package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisException;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisConnectionFailureException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests for {@link LettuceErrors}.
 */
class LettuceErrorsTests {

	/** As it is given by the driver when it looks for the master. */
	@Test
	void sentinelThatWasQueriedTooEarlyIsQueriedAgain() {
		RedisCommandTimeoutException timeout = new RedisCommandTimeoutException(
				"Cannot obtain master using SENTINEL MASTER. Command timed out after " + Duration.ofSeconds(5));
		assertThat(isWorthAnotherTry(timeout)).isFalse();
		timeout.addSuppressed(new RedisException("Currently not connected. Commands are rejected."));
		assertThat(isWorthAnotherTry(timeout)).isTrue();
	}

	@Test
	void serverThatRefusesConnectionsIsNotTriedAgain() {
		assertThat(isWorthAnotherTry(new RedisConnectionException("Connection refused"))).isFalse();
	}

	private static boolean isWorthAnotherTry(RuntimeException cause) {
		return LettuceErrors.isWorthAnotherTry(new RedisConnectionFailureException("Unable to connect to Redis",
				new RedisConnectionException("", cause)));
	}

}
