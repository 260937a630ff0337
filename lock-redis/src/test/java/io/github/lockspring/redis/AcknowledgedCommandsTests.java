package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.DedicatedConnections.Taken;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class AcknowledgedCommandsTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

	private static final int FEW = 4;

	private static final int CONNECTIONS = 24;

	private static final RedisScript<String> LENGTH_OF_LIST = new DefaultRedisScript<>(
			"return tostring(redis.call('LLEN', KEYS[1]))", String.class);

	@ParameterizedTest
	@EnumSource
	void f27ConnectionsOfOthersThatEndedWhileIdleAreNoReasonToFail(Driver driver) {
		try (RedisServer server = RedisServer.start();
				RedisConnections connections = ConnectionDeriver.derive(driver.factory(server.port()), PATIENT);
				DedicatedConnections dedicated = connections.dedicated(CONNECTIONS);
				ScriptRunner few = runner(dedicated)) {
			List<Taken> taken = IntStream.range(0, CONNECTIONS).mapToObj((i) -> dedicated.take()).toList();
			taken.forEach((each) -> dedicated.giveBack(each, true));
			server.restart();
			assertThat(few.run(LENGTH_OF_LIST, List.of("list"), new Object[0], PATIENT)).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionOnWhichTheServerRefusedSomethingIsUsedAgain(Driver driver) {
		try (RedisServer server = RedisServer.start();
				RedisConnections connections = ConnectionDeriver.derive(driver.factory(server.port()), PATIENT);
				DedicatedConnections dedicated = connections.dedicated(CONNECTIONS);
				ScriptRunner few = runner(dedicated)) {
			server.command("SET", "list", "none");
			few.run(LENGTH_OF_LIST, List.of("another"), new Object[0], PATIENT);
			long made = made(server);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> few.run(LENGTH_OF_LIST, List.of("list"), new Object[0], PATIENT))
				.withMessageContaining("WRONGTYPE");
			few.run(LENGTH_OF_LIST, List.of("another"), new Object[0], PATIENT);
			assertThat(made(server)).isEqualTo(made);
		}
	}

	private static ScriptRunner runner(DedicatedConnections connections) {
		RedisStoreSettings settings = new RedisStoreSettings("lock:", PATIENT, true);
		return new AcknowledgedCommands("few", FEW, connections, settings, 0, () -> {
		});
	}

	private static long made(RedisServer server) {
		return ((String) server.command("INFO", "stats")).lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
			.sum();
	}

}
