package io.github.lockspring.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;

import static org.awaitility.Awaitility.await;

/**
 * A redis-server on a free port. It ends with the tests.
 */
final class TestRedis {

	private final int port = freePort();

	private Process process = EmbeddedRedis.start(this.port);

	int port() {
		return this.port;
	}

	void stop() throws IOException {
		this.process.getOutputStream().close();
		await().until(() -> !EmbeddedRedis.answersPing(this.port));
	}

	void startAgain() {
		this.process = EmbeddedRedis.start(this.port);
	}

	static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
