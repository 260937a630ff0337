package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.internal.client.DedicatedConnections.PooledConnection;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ReplicatedScriptExecutorTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

	private static final int THREADS = 4;

	private static final int CONNECTIONS = 24;

	private static final RedisScript<String> LENGTH_OF_LIST = new DefaultRedisScript<>(
			"return tostring(redis.call('LLEN', KEYS[1]))", String.class);

	@ParameterizedTest
	@EnumSource
	void f27ConnectionsThatEndedWhileIdleFailOneRequest(Driver driver) {
		try (RedisServer server = RedisServer.start();
				RedisConnections connections = DerivedConnections.create(driver.factory(server.port()), null, PATIENT,
						PATIENT);
				DedicatedConnections dedicated = new DedicatedConnections(connections, CONNECTIONS);
				RedisScriptExecutor few = runner(dedicated)) {
			List<PooledConnection> borrowed = IntStream.range(0, CONNECTIONS)
				.mapToObj((i) -> dedicated.borrow())
				.toList();
			borrowed.forEach((each) -> dedicated.returnToPool(each));
			server.restart();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> length(few, "list"));
			assertThat(length(few, "list")).isEqualTo("0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionOnWhichTheServerRefusedSomethingIsUsedAgain(Driver driver) {
		try (RedisServer server = RedisServer.start();
				RedisConnections connections = DerivedConnections.create(driver.factory(server.port()), null, PATIENT,
						PATIENT);
				DedicatedConnections dedicated = new DedicatedConnections(connections, CONNECTIONS);
				RedisScriptExecutor few = runner(dedicated)) {
			server.command("SET", "list", "none");
			length(few, "another");
			long made = made(server);
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> length(few, "list"))
				.withMessageContaining("WRONGTYPE");
			length(few, "another");
			assertThat(made(server)).isEqualTo(made);
		}
	}

	private static String length(RedisScriptExecutor scripts, String list) {
		return Stages.join(scripts.execute(LENGTH_OF_LIST, List.of(list), new Object[0], PATIENT), PATIENT);
	}

	private static RedisScriptExecutor runner(DedicatedConnections connections) {
		return new ReplicatedScriptExecutor(DaemonThreads.onDemand("few", THREADS, THREADS), connections, 0, PATIENT,
				PATIENT);
	}

	private static long made(RedisServer server) {
		return ((String) server.command("INFO", "stats")).lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
			.sum();
	}

}
