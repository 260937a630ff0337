package io.github.lockspring.testsupport;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;

import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The faults that other tests build on do happen.
 */
class TestSupportTests {

	private static final Duration SHORT = Duration.ofSeconds(1);

	@Test
	void pausedServerDoesNotReplyAndResumedOneDoes() throws Exception {
		try (RedisServer server = RedisServer.start(); RespClient client = new RespClient(server.port(), SHORT)) {
			server.pause();
			client.send("SET", "a", "1");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(client::read);
			server.resume();
			assertThat(reply(client)).isEqualTo("OK");
			assertThat(server.get("a")).isEqualTo("1");
			assertThat(server.calls("set")).isEqualTo(1);
		}
	}

	@Test
	void restartedServerIsEmptyAndOnTheSamePort() throws Exception {
		try (RedisServer server = RedisServer.start("--maxmemory", "3mb")) {
			server.command("SET", "a", "1");
			server.kill();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(server::connect);
			server.restart();
			assertThat(server.keys()).isEmpty();
			assertThat(server.command("CONFIG", "GET", "maxmemory")).asString().contains("3145728");
		}
	}

	@Test
	void proxyCutsRefusesStallsAndHolds() throws Exception {
		RedisServer server = RedisServer.shared();
		server.flushAll();
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			RespClient first = client(proxy);
			proxy.cut(Cut.FIN);
			assertThatExceptionOfType(EOFException.class).isThrownBy(first::read);
			RespClient second = client(proxy);
			proxy.cut(Cut.RST);
			assertThatExceptionOfType(SocketException.class).isThrownBy(second::read);
			proxy.refuse();
			assertThatExceptionOfType(ConnectException.class).isThrownBy(() -> client(proxy));
			proxy.restore();
			RespClient third = client(proxy);
			proxy.stall(Direction.TO_CLIENT);
			third.send("SET", "executed", "1");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(third::read);
			await().until(() -> "1".equals(server.get("executed")));
			proxy.restore();
			assertThatExceptionOfType(IOException.class).isThrownBy(third::read);
			RespClient fourth = client(proxy);
			proxy.hold(Direction.TO_SERVER);
			fourth.send("SET", "late", "1");
			assertThatExceptionOfType(SocketTimeoutException.class).isThrownBy(fourth::read);
			assertThat(server.get("late")).isNull();
			proxy.restore();
			await().until(() -> server.exists("late"));
		}
	}

	private static RespClient client(TcpProxy proxy) throws IOException {
		RespClient client = new RespClient(proxy.port(), SHORT);
		client.send("PING");
		assertThat(reply(client)).isEqualTo("PONG");
		return client;
	}

	/**
	 * However long it takes; the timeout of the client is for replies that do not come.
	 */
	private static Object reply(RespClient client) {
		return await().pollDelay(Duration.ZERO)
			.ignoreExceptionsInstanceOf(SocketTimeoutException.class)
			.until(client::read, (reply) -> true);
	}

}
