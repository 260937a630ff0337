package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.internal.client.DedicatedConnections.PooledConnection;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.core.script.DefaultRedisScript;
import org.springframework.data.redis.core.script.RedisScript;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@ParameterizedClass
@EnumSource
class ReplicatedScriptExecutorTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

	private static final int THREADS = 4;

	private static final int CONNECTIONS = 24;

	private static final RedisScript<String> LENGTH_OF_LIST = new DefaultRedisScript<>(
			"return tostring(redis.call('LLEN', KEYS[1]))", String.class);

	@Parameter
	Driver driver;

	private final RedisServer server = RedisServer.start();

	private RedisConnections all;

	private DedicatedConnections connections;

	private RedisScriptExecutor scripts;

	@BeforeEach
	void open() {
		this.all = DerivedConnections.create(this.driver.factory(this.server.port()), null, PATIENT, PATIENT);
		this.connections = new DedicatedConnections(this.all, CONNECTIONS);
		this.scripts = new ReplicatedScriptExecutor(DaemonThreads.onDemand("few", THREADS, THREADS), this.connections,
				0, PATIENT, PATIENT);
	}

	@AfterEach
	void close() {
		this.scripts.close();
		this.connections.close();
		this.all.close();
		this.server.close();
	}

	@Test
	void f27ConnectionsThatEndedWhileIdleFailOneRequest() {
		List<PooledConnection> borrowed = IntStream.range(0, CONNECTIONS)
			.mapToObj((i) -> this.connections.borrow())
			.toList();
		borrowed.forEach(this.connections::returnToPool);
		this.server.restart();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> length("list"));
		assertThat(length("list")).isEqualTo("0");
	}

	@Test
	void connectionOnWhichTheServerRefusedSomethingIsUsedAgain() {
		this.server.command("SET", "list", "none");
		length("another");
		String made = made();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> length("list"))
			.withMessageContaining("WRONGTYPE");
		length("another");
		assertThat(made()).isEqualTo(made);
	}

	private String length(String list) {
		return Stages.join(this.scripts.execute(LENGTH_OF_LIST, List.of(list), new Object[0], PATIENT), PATIENT);
	}

	private String made() {
		return this.server.text("INFO", "stats")
			.lines()
			.filter((line) -> line.startsWith("total_connections_received:"))
			.findFirst()
			.orElseThrow();
	}

}
