package io.github.lockspring.etcd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.github.lockspring.testsupport.redis.RedisProcess;

import static org.awaitility.Awaitility.await;

/**
 * An etcd as a process of its own, perhaps one of several members.
 */
final class EtcdTestServer implements AutoCloseable {

	private static final String ROOT = "lockspring/";

	private final String name;

	private final int port;

	private final int peerPort;

	private final String cluster;

	private final Path directory;

	private Process process;

	private EtcdTestServer(String name, int port, int peerPort, String cluster) {
		this.name = name;
		this.port = port;
		this.peerPort = peerPort;
		this.cluster = cluster;
		try {
			this.directory = Files.createTempDirectory("etcd-test");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
		start();
	}

	private static final class Shared {

		private static final EtcdTestServer SERVER = EtcdTestServer.alone();

	}

	/** The server of tests that do not stop it. */
	static EtcdTestServer shared() {
		return Shared.SERVER;
	}

	/** A server of its own. */
	static EtcdTestServer alone() {
		EtcdTestServer server = members(1).get(0);
		server.awaitUsable();
		return server;
	}

	/** Several members of one cluster. */
	static List<EtcdTestServer> members(int count) {
		int[] peers = IntStream.range(0, count).map((i) -> RedisProcess.freePort()).toArray();
		List<String> all = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			all.add("m" + i + "=http://127.0.0.1:" + peers[i]);
		}
		List<EtcdTestServer> members = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			members.add(new EtcdTestServer("m" + i, RedisProcess.freePort(), peers[i], String.join(",", all)));
		}
		return members;
	}

	void start() {
		List<String> command = List.of("etcd", "--unsafe-no-fsync", "--name", this.name, "--data-dir",
				this.directory.resolve("data").toString(), "--listen-client-urls", address(), "--advertise-client-urls",
				address(), "--listen-peer-urls", "http://127.0.0.1:" + this.peerPort, "--initial-advertise-peer-urls",
				"http://127.0.0.1:" + this.peerPort, "--initial-cluster", this.cluster, "--log-level", "error");
		try {
			this.process = new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(this.directory.resolve("log").toFile())
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	void awaitUsable() {
		await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
			try (Client client = client()) {
				client.getKVClient().get(bytes(ROOT)).get(2, TimeUnit.SECONDS);
				return true;
			}
		});
	}

	String address() {
		return "http://127.0.0.1:" + this.port;
	}

	int port() {
		return this.port;
	}

	Client client() {
		return client(address());
	}

	static Client client(String... addresses) {
		return Client.builder()
			.endpoints(addresses)
			.connectTimeout(Duration.ofSeconds(2))
			.retryMaxAttempts(1)
			.waitForReady(false)
			.build();
	}

	/** Counts the keys of a lock. */
	int entries(String key) {
		String lock = ROOT + URLEncoder.encode("lock:" + key, StandardCharsets.UTF_8) + "/";
		try (Client client = client()) {
			return (int) client.getKVClient()
				.get(bytes(lock), GetOption.builder().isPrefix(true).withCountOnly(true).build())
				.get(10, TimeUnit.SECONDS)
				.getCount();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	void deleteAll() {
		try (Client client = client()) {
			client.getKVClient()
				.delete(bytes(ROOT), DeleteOption.builder().isPrefix(true).build())
				.get(10, TimeUnit.SECONDS);
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	void pause() {
		signal("STOP");
	}

	void resume() {
		signal("CONT");
	}

	private void signal(String signal) {
		try {
			new ProcessBuilder("kill", "-" + signal, String.valueOf(this.process.pid())).start().waitFor();
		}
		catch (IOException | InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Returns whether this member leads, as it says itself. */
	boolean isLeader() {
		try (Client client = client()) {
			var status = client.getMaintenanceClient().statusMember(address()).get(5, TimeUnit.SECONDS);
			return status.getHeader().getMemberId() == status.getLeader();
		}
		catch (Exception ex) {
			return false;
		}
	}

	@Override
	public void close() {
		if (this.process.isAlive()) {
			kill();
		}
		try (Stream<Path> files = Files.walk(this.directory)) {
			files.sorted(Comparator.reverseOrder()).forEach((file) -> file.toFile().delete());
		}
		catch (IOException ex) {
			// deleted already
		}
	}

}
