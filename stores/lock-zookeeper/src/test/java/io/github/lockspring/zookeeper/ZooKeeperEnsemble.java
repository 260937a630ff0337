package io.github.lockspring.zookeeper;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.stream.IntStream;

import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingZooKeeperServer;

import static org.awaitility.Awaitility.await;

/**
 * Three servers in this JVM.
 */
final class ZooKeeperEnsemble implements AutoCloseable {

	/** A follower may be silent for five of them. */
	private static final int TICK_MILLIS = 1000;

	private final TestingCluster cluster = new TestingCluster(IntStream.rangeClosed(1, 3)
		.mapToObj((id) -> new InstanceSpec(null, -1, -1, -1, true, id, TICK_MILLIS, 100,
				Map.of("maxSessionTimeout", "600000", "admin.enableServer", "false")))
		.toArray(InstanceSpec[]::new));

	ZooKeeperEnsemble() {
		ZooKeeperTestServer.get(() -> {
			this.cluster.start();
			return leader();
		});
	}

	String addresses() {
		return this.cluster.getConnectString();
	}

	/** Waits for an election, if none leads. */
	TestingZooKeeperServer leader() {
		return await().atMost(Duration.ofMinutes(1)).until(() -> serverThat("leader"), (server) -> server != null);
	}

	TestingZooKeeperServer follower() {
		return await().atMost(Duration.ofMinutes(1)).until(() -> serverThat("follower"), (server) -> server != null);
	}

	private TestingZooKeeperServer serverThat(String mode) {
		return this.cluster.getServers()
			.stream()
			.filter((server) -> status(server.getInstanceSpec().getPort()).contains("Mode: " + mode))
			.findFirst()
			.orElse(null);
	}

	/** Returns what a server says of itself; empty without an answer. */
	static String status(int port) {
		try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
			socket.setSoTimeout(1000);
			socket.getOutputStream().write("srvr".getBytes(StandardCharsets.US_ASCII));
			return new String(socket.getInputStream().readAllBytes(), StandardCharsets.US_ASCII);
		}
		catch (IOException ex) {
			return "";
		}
	}

	@Override
	public void close() throws IOException {
		this.cluster.close();
	}

}
