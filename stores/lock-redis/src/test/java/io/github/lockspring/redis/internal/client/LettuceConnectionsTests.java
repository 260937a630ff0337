package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LettuceConnections} that need its threads in hand.
 */
class LettuceConnectionsTests {

	/**
	 * The first connection of a JVM loads the driver, which takes long on a busy machine.
	 */
	private static final Duration PATIENT = Duration.ofMinutes(1);

	private static final RedisEndpoint ENDPOINT = RedisEndpoint.of(new RedisStandaloneConfiguration(), false, false,
			null);

	@Test
	void attemptForWhichThereIsNoThreadFailsAndIsFollowedByAnother() {
		RedisServer server = RedisServer.shared();
		AtomicInteger attempts = new AtomicInteger();
		DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
				LettuceClientConfiguration.defaultConfiguration(),
				new RedisStandaloneConfiguration(server.host(), server.port()), PATIENT, PATIENT);
		try (LettuceConnections connections = new LettuceConnections(derived, ENDPOINT, (task) -> {
			if (attempts.incrementAndGet() == 1) {
				throw new OutOfMemoryError("unable to create native thread");
			}
			new Thread(task).start();
		})) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> connections.run((template) -> template.hasKey("any")))
				.withRootCauseInstanceOf(OutOfMemoryError.class);
			assertThat(connections.<Boolean>run((template) -> template.hasKey("any"))).isFalse();
		}
		assertThat(attempts).hasValue(2);
	}

}
