package io.github.lockspring.redis.internal.client;

import java.time.Duration;

import java.util.List;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.internal.client.DedicatedConnections.PooledConnection;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class DedicatedConnectionsTests {

	private static final Duration PATIENT = Duration.ofSeconds(10);

	private static final int SIZE = 8;

	/**
	 * A master that is being replaced does not know it at once: its connections stay
	 * open, and it says that it has nothing of what its successor gave.
	 */
	@ParameterizedTest
	@EnumSource
	void f11NoClientUsesTheFormerMasterOnceAConnectionIsAtItsSuccessor(Driver driver) {
		try (RedisServer former = RedisServer.start();
				RedisServer successor = RedisServer.start();
				TcpProxy address = new TcpProxy(former.port());
				RedisConnections all = to(driver, new RedisStandaloneConfiguration(address.host(), address.port()));
				DedicatedConnections connections = new DedicatedConnections(all, SIZE)) {
			successor.command("SET", "here", "yes");
			PooledConnection inUse = connections.borrow();
			PooledConnection idle = connections.borrow();
			connections.returnToPool(idle);
			address.target(successor.port());
			PooledConnection again = connections.borrow();
			assertThat(again.connection()).as("used again").isSameAs(idle.connection());
			PooledConnection made = connections.borrow();
			assertThat(isAtSuccessor(made)).isTrue();
			for (PooledConnection each : List.of(made, again, inUse)) {
				connections.returnToPool(each);
			}
			for (int i = 0; i < 3; i++) {
				assertThat(isAtSuccessor(connections.borrow())).isTrue();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void serverNeedNotSayWhoItIs(Driver driver) {
		try (RedisServer server = RedisServer.start()) {
			server.command("ACL", "SETUSER", "silent", "on", ">secret", "~*", "+@all", "-info");
			RedisStandaloneConfiguration where = new RedisStandaloneConfiguration(server.host(), server.port());
			where.setUsername("silent");
			where.setPassword("secret");
			try (RedisConnections all = to(driver, where);
					DedicatedConnections connections = new DedicatedConnections(all, SIZE)) {
				PooledConnection first = connections.borrow();
				connections.returnToPool(first);
				assertThat(connections.borrow().connection()).isSameAs(first.connection());
			}
		}
	}

	private static RedisConnections to(Driver driver, RedisStandaloneConfiguration where) {
		return DerivedConnections.create(driver.factory(where), null, PATIENT, PATIENT);
	}

	private static boolean isAtSuccessor(PooledConnection taken) {
		return Boolean.TRUE.equals(taken.connection().keyCommands().exists("here".getBytes(UTF_8)));
	}

}
