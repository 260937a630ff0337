package io.github.lockspring.testsupport;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * One sentinel of a {@link SentinelGroup}: the server's binary with a file of its own.
 */
public final class SentinelProcess implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	private final int port;

	private final @Nullable String password;

	private final Path directory;

	private @Nullable Process process;

	private boolean stopped;

	private @Nullable RespClient client;

	/** Starts the sentinel with the given number. */
	SentinelProcess(int number, List<Integer> ports, int master, @Nullable String masterPassword,
			@Nullable String password) throws IOException {
		this.port = ports.get(number);
		this.password = password;
		this.directory = Files.createTempDirectory("sentinel-test");
		String name = SentinelGroup.NAME;
		// the third one has a vote, but does not stand for election at once: three who
		// vote
		// for themselves would try again after four seconds
		List<String> lines = new ArrayList<>(List.of("port " + this.port, "bind 127.0.0.1", "dir " + this.directory,
				"sentinel myid " + id(number), "sentinel monitor " + name + " 127.0.0.1 " + master + " 2",
				"sentinel down-after-milliseconds " + name + " " + ((number < 2) ? 500 : 2500),
				"sentinel failover-timeout " + name + " 2000", "sentinel parallel-syncs " + name + " 2"));
		if (password != null) {
			lines.add("requirepass " + password);
		}
		if (masterPassword != null) {
			lines.add("sentinel auth-pass " + name + " " + masterPassword);
		}
		// otherwise they would look for each other for some seconds
		for (int other = 0; other < ports.size(); other++) {
			if (other != number) {
				lines.add("sentinel known-sentinel " + name + " 127.0.0.1 " + ports.get(other) + " " + id(other));
			}
		}
		Files.write(file(), lines);
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
		restart();
	}

	private static String id(int number) {
		return "%040x".formatted(0xabc0 + number);
	}

	private Path file() {
		return this.directory.resolve("sentinel.conf");
	}

	public int port() {
		return this.port;
	}

	public synchronized boolean isRunning() {
		return this.process != null && !this.stopped;
	}

	/** SIGKILL. */
	public synchronized void kill() {
		RespClient client = this.client;
		this.client = null;
		if (client != null) {
			client.close();
		}
		Process process = this.process;
		this.process = null;
		this.stopped = false;
		if (process != null) {
			process.destroyForcibly();
			process.onExit().join();
		}
	}

	/** SIGSTOP. */
	public synchronized void pause() {
		signal("STOP");
		this.stopped = true;
	}

	/** SIGCONT. */
	public synchronized void resume() {
		signal("CONT");
		this.stopped = false;
	}

	private synchronized void signal(String name) {
		Process process = this.process;
		if (process == null) {
			throw new IllegalStateException("The sentinel is not running");
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

	/** Starts the sentinel, with what it knew. */
	public synchronized void restart() {
		kill();
		try {
			Path log = this.directory.resolve("sentinel.log");
			Process process = new ProcessBuilder(RedisVersion.DEFAULT.executable().toString(), file().toString(),
					"--sentinel")
				.redirectErrorStream(true)
				.redirectOutput(log.toFile())
				.start();
			this.process = process;
			long start = System.nanoTime();
			while (!answers()) {
				if (!process.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
					kill();
					throw new IOException("The sentinel did not start:\n" + Files.readString(log));
				}
				Thread.onSpinWait();
			}
			// a former master is made a replica after four times the publish period; who
			// is promoted loses its connections, which are made anew once in a ping
			// period, and must not seem to be down until then; a sentinel that was not
			// scheduled for two seconds would do nothing for half a minute
			command("SENTINEL", "DEBUG", "publish-period", "500", "info-period", "500", "ping-period", "100",
					"ask-period", "200", "tilt-trigger", "30000", "tilt-period", "1000");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean answers() {
		try {
			return "PONG".equals(command("PING"));
		}
		catch (UncheckedIOException ex) {
			return false;
		}
	}

	/**
	 * Sends a command.
	 * @return String, Long, List or null
	 */
	public synchronized @Nullable Object command(String... words) {
		try {
			RespClient client = this.client;
			if (client == null) {
				client = new RespClient(this.port, PATIENCE);
				if (this.password != null) {
					client.command("AUTH", this.password);
				}
				this.client = client;
			}
			return client.command(words);
		}
		catch (UncheckedIOException | IOException ex) {
			this.client = null;
			throw (ex instanceof UncheckedIOException unchecked) ? unchecked
					: new UncheckedIOException((IOException) ex);
		}
	}

	@Override
	public void close() {
		kill();
		for (String name : List.of("sentinel.conf", "sentinel.log")) {
			this.directory.resolve(name).toFile().delete();
		}
		this.directory.toFile().delete();
	}

}
