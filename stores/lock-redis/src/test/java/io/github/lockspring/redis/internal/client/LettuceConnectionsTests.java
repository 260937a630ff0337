package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.lettuce.core.resource.ClientResources;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Tests for {@link LettuceConnections} that need its threads in hand.
 */
class LettuceConnectionsTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

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

	@Test
	void closeDoesNotWaitForAServerThatNeverReplies() throws Exception {
		AtomicReference<Thread> connecting = new AtomicReference<>();
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port())) {
			proxy.stall();
			DerivedLettuceConfiguration derived = new DerivedLettuceConfiguration(
					LettuceClientConfiguration.defaultConfiguration(),
					new RedisStandaloneConfiguration("127.0.0.1", proxy.port()), Duration.ofMillis(100),
					Duration.ofMinutes(2));
			LettuceConnections connections = new LettuceConnections(derived, ENDPOINT, (task) -> {
				connecting.set(new Thread(task));
				connecting.get().start();
			});
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> connections.run((template) -> template.hasKey("any")))
				.withMessageEndingWith("did not reply within 100ms");
			long start = System.nanoTime();
			connections.close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofMinutes(1));
			proxy.restore();
			connecting.get().join(PATIENT.multipliedBy(3).toMillis());
			assertThat(connecting.get().isAlive()).isFalse();
			ClientResources resources = derived.reconnecting().getClientResources().orElseThrow();
			assertThat(resources.eventExecutorGroup().isShuttingDown()).isTrue();
		}
	}

}
