package io.github.lockspring.testsupport;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * A real redis-server, 7.0.15 unless another one is asked for, as a process of its own on
 * the loopback interface, without persistence. Dies with this JVM. Thread-safe.
 */
public final class RedisServer implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private static final Map<RedisVersion, RedisServer> shared = new EnumMap<>(RedisVersion.class);

	private final RedisVersion version;

	private final int port;

	private final List<String> config;

	private final Path directory;

	private @Nullable Process process;

	private @Nullable RespClient admin;

	private RedisServer(RedisVersion version, int port, List<String> config) throws IOException {
		this.version = version;
		this.port = port;
		this.config = config;
		this.directory = Files.createTempDirectory("redis-test");
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
	}

	/**
	 * Starts a server on a free port.
	 * @param config further arguments, such as {@code "--maxmemory", "3mb"}
	 */
	public static RedisServer start(String... config) {
		return start(RedisVersion.DEFAULT, config);
	}

	/**
	 * Starts a server of some version on a free port.
	 * @param version one that runs here
	 * @param config further arguments
	 */
	public static RedisServer start(RedisVersion version, String... config) {
		try {
			RedisServer server = new RedisServer(version, freePort(), List.of(config));
			server.launch();
			return server;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * The server that tests share which leave it as they found it: running, and with the
	 * configuration it had. It is never empty by promise: flush it first, or use keys of
	 * your own.
	 */
	public static RedisServer shared() {
		return shared(RedisVersion.DEFAULT);
	}

	/**
	 * The same of another version.
	 */
	public static synchronized RedisServer shared(RedisVersion version) {
		return shared.computeIfAbsent(version, RedisServer::start);
	}

	public static int freePort() throws IOException {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
	}

	public String host() {
		return "127.0.0.1";
	}

	public int port() {
		return this.port;
	}

	/**
	 * The server's working directory, deleted by {@link #close()}.
	 */
	public Path directory() {
		return this.directory;
	}

	/**
	 * SIGSTOP: connections stay open, nothing is answered.
	 */
	public void pause() {
		signal("STOP");
	}

	/**
	 * SIGCONT.
	 */
	public void resume() {
		signal("CONT");
	}

	/**
	 * SIGKILL; returns when the process is gone. Everything stored is lost.
	 */
	public synchronized void kill() {
		dropAdmin();
		Process process = this.process;
		if (process != null) {
			process.destroyForcibly();
			process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
			this.process = null;
		}
	}

	/**
	 * Kills the server if it runs and starts it again, empty, on the same port.
	 */
	public synchronized void restart() {
		kill();
		try {
			launch();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Same as {@link #close()}.
	 */
	public void stop() {
		close();
	}

	@Override
	public synchronized void close() {
		kill();
		try (Stream<Path> files = Files.walk(this.directory)) {
			files.sorted((a, b) -> b.compareTo(a)).map(Path::toFile).forEach(File::delete);
		}
		catch (IOException | UncheckedIOException ex) {
			// left to the system's cleaning of temporary files
		}
	}

	/**
	 * Sends a command over a connection that is kept for this purpose.
	 * @return String, Long, List or null
	 * @throws RespClient.RedisError for an error answer
	 */
	public synchronized @Nullable Object command(String... words) {
		try {
			RespClient client = this.admin;
			if (client == null) {
				client = connect();
				this.admin = client;
			}
			return client.command(words);
		}
		catch (UncheckedIOException | IOException ex) {
			dropAdmin();
			throw (ex instanceof UncheckedIOException unchecked) ? unchecked
					: new UncheckedIOException((IOException) ex);
		}
	}

	/**
	 * Opens a plain connection, authenticated where {@code --requirepass} was given.
	 */
	public RespClient connect() throws IOException {
		RespClient client = new RespClient(this.port, PATIENCE);
		int password = this.config.indexOf("--requirepass");
		if (password >= 0) {
			client.command("AUTH", this.config.get(password + 1));
		}
		return client;
	}

	public void flushAll() {
		command("FLUSHALL");
	}

	public @Nullable String get(String key) {
		return (String) command("GET", key);
	}

	/**
	 * Milliseconds left, -1 without a TTL, -2 without such a key.
	 */
	public long pttl(String key) {
		return number(command("PTTL", key));
	}

	public boolean exists(String key) {
		return number(command("EXISTS", key)) == 1;
	}

	public List<String> keys() {
		List<String> keys = new ArrayList<>();
		for (Object key : (List<?>) Objects.requireNonNull(command("KEYS", "*"))) {
			keys.add((String) key);
		}
		return keys;
	}

	/**
	 * How often a command was called since the start or the last
	 * {@code CONFIG RESETSTAT}, those inside of scripts included.
	 * @param command its name, such as {@code evalsha} or {@code set}
	 */
	public long calls(String command) {
		String stats = (String) Objects.requireNonNull(command("INFO", "commandstats"));
		Matcher matcher = Pattern.compile("cmdstat_" + Pattern.quote(command) + ":calls=(\\d+),").matcher(stats);
		return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
	}

	/**
	 * What the server says about all calls of all commands together, without those of
	 * this object's own INFO and CONFIG.
	 */
	public long calls() {
		String stats = (String) Objects.requireNonNull(command("INFO", "commandstats"));
		Matcher matcher = Pattern.compile("cmdstat_([^:]+):calls=(\\d+),").matcher(stats);
		long sum = 0;
		while (matcher.find()) {
			if (!matcher.group(1).equals("info") && !matcher.group(1).startsWith("config")) {
				sum += Long.parseLong(matcher.group(2));
			}
		}
		return sum;
	}

	private static long number(@Nullable Object answer) {
		return (Long) Objects.requireNonNull(answer);
	}

	private synchronized void launch() throws IOException {
		List<String> command = new ArrayList<>();
		command.addAll(List.of(this.version.executable().toString(), "--port", String.valueOf(this.port), "--bind",
				host(), "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", this.directory.toString()));
		command.addAll(this.config);
		File log = this.directory.resolve("redis.log").toFile();
		Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
		this.process = process;
		long start = System.nanoTime();
		while (!answers()) {
			if (!process.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
				kill();
				throw new IOException("redis-server did not start:\n" + Files.readString(log.toPath()));
			}
			try {
				Thread.sleep(5);
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
				throw new IOException("Interrupted", ex);
			}
		}
	}

	private boolean answers() {
		try {
			return "PONG".equals(command("PING"));
		}
		catch (UncheckedIOException | RespClient.RedisError ex) {
			return false;
		}
	}

	private void signal(String name) {
		Process process = this.process;
		if (process == null) {
			throw new IllegalStateException("redis-server is not running");
		}
		try {
			Process kill = new ProcessBuilder("kill", "-" + name, String.valueOf(process.pid())).inheritIO().start();
			if (kill.waitFor() != 0) {
				throw new IllegalStateException("kill -" + name + " failed");
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException(ex);
		}
	}

	private void dropAdmin() {
		RespClient client = this.admin;
		this.admin = null;
		if (client != null) {
			client.close();
		}
	}

}
