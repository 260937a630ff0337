package io.github.lockspring.testsupport.etcd;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.history.ServerGroup;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import io.github.lockspring.testsupport.redis.RedisProcess;

import static org.awaitility.Awaitility.await;

/**
 * An etcd process on the loopback interface, alone or as one of several members, with a
 * directory that is deleted at the end. Reads the stored keys without the client under
 * test. Does not outlive this JVM. For one thread.
 *
 * @since 0.1
 */
public final class EtcdProcess implements ServerGroup.Server, AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	private static final Duration ANSWER = Duration.ofSeconds(10);

	private static final String BACKUP = "backup";

	private static final String ROOT_PASSWORD = "root-password";

	private final String name;

	private final int port = RedisProcess.freePort();

	private final int tlsPort = RedisProcess.freePort();

	private final int peerPort;

	private final List<String> more;

	private final Path directory;

	private final HttpClient http = HttpClient.newHttpClient();

	private Process process;

	private String token = "";

	private EtcdProcess(String name, int peerPort, List<String> more) {
		this.name = name;
		this.peerPort = peerPort;
		this.more = more;
		try {
			this.directory = Files.createTempDirectory("etcd-test");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
		this.process = run();
	}

	private static final class Shared {

		private static final EtcdProcess SERVER = EtcdProcess.alone();

	}

	/** Returns the shared server, for tests that do not stop it. */
	public static EtcdProcess shared() {
		return Shared.SERVER;
	}

	/**
	 * Starts a server.
	 * @param more further arguments of the binary
	 */
	public static EtcdProcess alone(String... more) {
		EtcdProcess server = members(1, more).get(0);
		server.awaitUsable();
		return server;
	}

	/**
	 * Starts a server that also accepts TLS.
	 * @param certificate the certificate, PEM
	 * @param key its private key, PEM
	 */
	public static EtcdProcess withTls(Path certificate, Path key) {
		return alone("--cert-file", certificate.toString(), "--key-file", key.toString());
	}

	/**
	 * Starts several members of one cluster, which may not be usable yet.
	 * @param count the number of members
	 * @param more further arguments of the binary
	 */
	public static List<EtcdProcess> members(int count, String... more) {
		int[] peers = IntStream.range(0, count).map((i) -> RedisProcess.freePort()).toArray();
		List<String> all = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			all.add("m" + i + "=http://127.0.0.1:" + peers[i]);
		}
		List<String> arguments = new ArrayList<>(List.of(more));
		arguments.addAll(List.of("--initial-cluster", String.join(",", all)));
		List<EtcdProcess> members = new ArrayList<>();
		for (int i = 0; i < count; i++) {
			members.add(new EtcdProcess("m" + i, peers[i], arguments));
		}
		return members;
	}

	/** Starts the process after it was killed, with its data. */
	@Override
	public void start() {
		this.process = run();
	}

	/** Stops the process, copies its data, and starts it again. */
	public void backUp() {
		kill();
		RunDirectory.delete(this.directory.resolve(BACKUP));
		copy(this.directory.resolve("data"), this.directory.resolve(BACKUP));
		start();
		awaitUsable();
	}

	/** Stops the process, and starts it with the data of the last backup. */
	public void restore() {
		kill();
		RunDirectory.delete(this.directory.resolve("data"));
		copy(this.directory.resolve(BACKUP), this.directory.resolve("data"));
		start();
		awaitUsable();
	}

	private static void copy(Path from, Path to) {
		try (Stream<Path> files = Files.walk(from)) {
			for (Path file : files.toList()) {
				Files.copy(file, to.resolve(from.relativize(file).toString()));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process run() {
		String peer = "http://127.0.0.1:" + this.peerPort;
		String clients = this.more.contains("--cert-file") ? address() + "," + tlsAddress() : address();
		List<String> command = new ArrayList<>(List.of("etcd", "--unsafe-no-fsync", "--name", this.name, "--data-dir",
				this.directory.resolve("data").toString(), "--listen-client-urls", clients, "--advertise-client-urls",
				clients, "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer, "--log-level", "error"));
		command.addAll(this.more);
		try {
			return new ProcessBuilder(command).redirectErrorStream(true)
				.redirectOutput(this.directory.resolve("log").toFile())
				.start();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Waits until the server replies and has a majority. */
	public void awaitUsable() {
		await().atMost(PATIENCE).ignoreExceptions().until(() -> count("", "") >= 0);
	}

	/** Returns the URL without TLS. */
	public String address() {
		return "http://127.0.0.1:" + this.port;
	}

	/** Returns the URL with TLS. */
	public String tlsAddress() {
		return "https://127.0.0.1:" + this.tlsPort;
	}

	/** Returns the port without TLS. */
	@Override
	public int port() {
		return this.port;
	}

	/** Counts the keys of a lock. */
	public int entries(String key) {
		String lock = "lock:" + URLEncoder.encode(key, StandardCharsets.UTF_8) + "/";
		return count(lock, end(lock));
	}

	private int count(String from, String to) {
		String answer = send("kv/range", "{\"key\":\"%s\",\"range_end\":\"%s\",\"count_only\":true}"
			.formatted(encoded(from.isEmpty() ? "a" : from), encoded(to)));
		Matcher count = Pattern.compile("\"count\":\"(\\d+)\"").matcher(answer);
		return count.find() ? Integer.parseInt(count.group(1)) : 0;
	}

	/** Deletes all locks. */
	public void deleteAll() {
		send("kv/deleterange",
				"{\"key\":\"%s\",\"range_end\":\"%s\"}".formatted(encoded("lock:"), encoded(end("lock:"))));
	}

	/** Returns the number of leases. */
	public int leases() {
		return send("lease/leases", "{}").split("\"ID\"", -1).length - 1;
	}

	/**
	 * Switches authentication on, with a user who may use the keys of locks only.
	 * @param user the name
	 * @param password the password
	 */
	public void authenticate(String user, String password) {
		send("auth/user/add", "{\"name\":\"root\",\"password\":\"%s\"}".formatted(ROOT_PASSWORD));
		send("auth/user/grant", "{\"user\":\"root\",\"role\":\"root\"}");
		send("auth/role/add", "{\"name\":\"locks\"}");
		send("auth/role/grant",
				"{\"name\":\"locks\",\"perm\":{\"permType\":\"READWRITE\",\"key\":\"%s\",\"range_end\":\"%s\"}}"
					.formatted(encoded("lock:"), encoded(end("lock:"))));
		send("auth/user/add", "{\"name\":\"%s\",\"password\":\"%s\"}".formatted(user, password));
		send("auth/user/grant", "{\"user\":\"%s\",\"role\":\"locks\"}".formatted(user));
		send("auth/enable", "{}");
	}

	private static String end(String prefix) {
		int last = prefix.length() - 1;
		return prefix.substring(0, last) + (char) (prefix.charAt(last) + 1);
	}

	private static String encoded(String text) {
		return Base64.getEncoder().encodeToString(text.getBytes(StandardCharsets.UTF_8));
	}

	private String send(String path, String json) {
		HttpResponse<String> response = post(path, json);
		if (response.body().contains("auth token") || response.body().contains("user name is empty")) {
			Matcher found = Pattern.compile("\"token\":\"([^\"]+)\"")
				.matcher(post("auth/authenticate", "{\"name\":\"root\",\"password\":\"%s\"}".formatted(ROOT_PASSWORD))
					.body());
			this.token = found.find() ? found.group(1) : "";
			response = post(path, json);
		}
		if (response.statusCode() != 200) {
			throw new IllegalStateException(path + ": " + response.body());
		}
		return response.body();
	}

	private HttpResponse<String> post(String path, String json) {
		HttpRequest.Builder request = request("/v3/" + path).POST(HttpRequest.BodyPublishers.ofString(json));
		if (!this.token.isEmpty()) {
			request.header("Authorization", this.token);
		}
		return send(request);
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create(address() + path))
			.version(HttpClient.Version.HTTP_1_1)
			.timeout(ANSWER);
	}

	private HttpResponse<String> send(HttpRequest.Builder request) {
		try {
			return this.http.send(request.build(), HttpResponse.BodyHandlers.ofString());
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** Returns the version that the server says it has. */
	public String version() {
		Matcher version = Pattern.compile("\"etcdserver\":\"([^\"]+)\"").matcher(send(request("/version")).body());
		return version.find() ? version.group(1) : "unknown";
	}

	/** Returns whether this member reports itself as the leader. */
	@Override
	public boolean isLeader() {
		try {
			String status = send("maintenance/status", "{}");
			return number(status, "member_id").equals(number(status, "leader"));
		}
		catch (UncheckedIOException | IllegalStateException ex) {
			return false;
		}
	}

	private static String number(String json, String field) {
		Matcher number = Pattern.compile("\"" + field + "\":\"(\\d+)\"").matcher(json);
		return number.find() ? number.group(1) : "no " + field;
	}

	/** Returns the CPU time that the process has used; zero if unknown. */
	public Duration cpuTime() {
		return this.process.info().totalCpuDuration().orElse(Duration.ZERO);
	}

	/** Sends SIGKILL, and waits until the process has ended. */
	@Override
	public void kill() {
		this.process.destroyForcibly().onExit().join();
	}

	/**
	 * Sends SIGSTOP: connections stay open without replies. A member that has ended by
	 * itself is started again, as it would be in production.
	 */
	@Override
	public void pause() {
		if (!this.process.isAlive()) {
			System.out.println("etcd has ended by itself: " + lastWords());
			start();
		}
		JavaProcess.signal(this.process, "STOP");
	}

	private String lastWords() {
		try (Stream<String> lines = Files.lines(this.directory.resolve("log"))) {
			return lines.reduce("", (before, line) -> line);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Sends SIGCONT. */
	@Override
	public void resume() {
		JavaProcess.signal(this.process, "CONT");
	}

	/** Kills the process and deletes its directory. */
	@Override
	public void close() {
		if (this.process.isAlive()) {
			kill();
		}
		RunDirectory.delete(this.directory);
	}

}
