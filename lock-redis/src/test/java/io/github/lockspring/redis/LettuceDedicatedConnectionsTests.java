package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.redis.DedicatedConnections.Taken;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

class LettuceDedicatedConnectionsTests {

	/**
	 * A master that is being replaced does not know it at once: its connections stay
	 * open, and it says that it has nothing of what its successor gave.
	 */
	@Test
	void f11NobodyUsesTheFormerMasterOnceAConnectionIsAtItsSuccessor() {
		try (RedisServer former = RedisServer.start();
				RedisServer successor = RedisServer.start();
				TcpProxy address = new TcpProxy(former.port());
				DedicatedConnections connections = to(
						new RedisStandaloneConfiguration(address.host(), address.port()))) {
			successor.command("SET", "here", "yes");
			Taken inUse = connections.take();
			Taken idle = connections.take();
			connections.giveBack(idle, true);
			Taken again = connections.take();
			assertThat(again.connection()).as("used again").isSameAs(idle.connection());
			Taken another = connections.take();
			connections.giveBack(another, true);
			connections.giveBack(again, true);
			address.target(successor.port());
			again = connections.take();
			another = connections.take();
			assertThat(isAtSuccessor(again) || isAtSuccessor(another)).as("both were there").isFalse();
			connections.giveBack(another, true);
			Taken idleMeanwhile = connections.take();
			Taken made = connections.take();
			assertThat(isAtSuccessor(made)).isTrue();
			connections.giveBack(made, true);
			connections.giveBack(idleMeanwhile, true);
			connections.giveBack(again, true);
			connections.giveBack(inUse, true);
			for (int i = 0; i < 3; i++) {
				assertThat(isAtSuccessor(connections.take())).isTrue();
			}
		}
	}

	@Test
	void serverNeedNotSayWhoItIs() {
		try (RedisServer server = RedisServer.start()) {
			server.command("ACL", "SETUSER", "silent", "on", ">secret", "~*", "+@all", "-info");
			RedisStandaloneConfiguration where = new RedisStandaloneConfiguration(server.host(), server.port());
			where.setUsername("silent");
			where.setPassword("secret");
			try (DedicatedConnections connections = to(where)) {
				Taken first = connections.take();
				connections.giveBack(first, true);
				assertThat(connections.take().connection()).isSameAs(first.connection());
			}
		}
	}

	private static DedicatedConnections to(RedisStandaloneConfiguration where) {
		return new LettuceDedicatedConnections(where, new DerivedLettuceConfiguration(
				LettuceClientConfiguration.defaultConfiguration(), where, Duration.ofSeconds(10)), 24);
	}

	private static boolean isAtSuccessor(Taken taken) {
		return Boolean.TRUE.equals(taken.connection().keyCommands().exists("here".getBytes(UTF_8)));
	}

}
