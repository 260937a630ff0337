package io.github.lockspring.redis.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.RedisConnectionFailureException;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LettuceConnections} that need its threads in hand.
 */
class LettuceConnectionsTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

	@Test
	void attemptForWhichThereIsNoThreadFailsAndIsFollowedByAnother() {
		RedisServer server = RedisServer.shared();
		AtomicInteger attempts = new AtomicInteger();
		DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
				LettuceClientConfiguration.defaultConfiguration(),
				new RedisStandaloneConfiguration(server.host(), server.port()), PATIENT, PATIENT);
		try (LettuceConnections connections = new LettuceConnections(derived, (task) -> {
			if (attempts.incrementAndGet() == 1) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			new Thread(task).start();
		})) {
			assertThatExceptionOfType(RedisConnectionFailureException.class).isThrownBy(
					() -> connections.call(RedisConnections.ANY_SHARD, (template) -> template.hasKey("any"), PATIENT))
				.withCauseInstanceOf(OutOfMemoryError.class);
			assertThat(connections.<Boolean>call(RedisConnections.ANY_SHARD, (template) -> template.hasKey("any"),
					PATIENT))
				.isFalse();
		}
		assertThat(attempts).hasValue(2);
	}

}
