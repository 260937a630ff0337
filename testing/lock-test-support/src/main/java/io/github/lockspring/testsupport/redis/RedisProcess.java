package io.github.lockspring.testsupport.redis;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.testsupport.network.ServerPorts;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.jspecify.annotations.Nullable;

/**
 * The redis-server binary as a process of its own on the loopback interface, with a
 * working directory that is deleted at the end. Does not outlive this JVM. Thread-safe.
 *
 * @since 0.1
 */
public abstract class RedisProcess implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofSeconds(20);

	/**
	 * Where files are in memory. Nodes of a cluster, sentinels and servers with a log
	 * wait for their disk before they reply, which a test of timeouts should not depend
	 * on.
	 */
	private static final Path MEMORY = Path.of("/dev/shm");

	private final RedisVersion version;

	private final int port;

	private final @Nullable String password;

	private final Path directory;

	private @Nullable Process process;

	private @Nullable RespClient client;

	private boolean paused;

	RedisProcess(RedisVersion version, int port, @Nullable String password) {
		this.version = version;
		this.port = port;
		this.password = password;
		try {
			this.directory = Files.isWritable(MEMORY) ? Files.createTempDirectory(MEMORY, "redis-test")
					: Files.createTempDirectory("redis-test");
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		Runtime.getRuntime().addShutdownHook(new Thread(this::close));
	}

	/** Returns the arguments that follow the name of the binary. */
	abstract List<String> arguments();

	/**
	 * Returns a port of the loopback interface that is free at this moment. It is none
	 * that the system gives to a client, so that a server which ends gets it again when
	 * it starts.
	 */
	public static int freePort() {
		return ServerPorts.free();
	}

	/** Returns the address of the loopback interface. */
	public final String host() {
		return "127.0.0.1";
	}

	/** Returns the port. */
	public final int port() {
		return this.port;
	}

	/** Returns host and port, with a colon between them. */
	public final String address() {
		return host() + ':' + this.port;
	}

	/** Returns the working directory. */
	public final Path directory() {
		return this.directory;
	}

	/** Returns whether the process runs and is not stopped by SIGSTOP. */
	public final synchronized boolean isRunning() {
		return this.process != null && !this.paused;
	}

	/** Returns whether the process is stopped by SIGSTOP. */
	public final synchronized boolean isPaused() {
		return this.paused;
	}

	/** Sends SIGSTOP: connections stay open, nothing is answered. */
	public final synchronized void pause() {
		JavaProcess.signal(running(), "STOP");
		this.paused = true;
	}

	/** Sends SIGCONT. */
	public final synchronized void resume() {
		JavaProcess.signal(running(), "CONT");
		this.paused = false;
	}

	private Process running() {
		Process process = this.process;
		if (process == null) {
			throw new IllegalStateException("redis-server is not running");
		}
		return process;
	}

	/** Sends SIGKILL and waits until the process has ended. What it stored is lost. */
	public final synchronized void kill() {
		disconnect();
		Process process = this.process;
		this.process = null;
		this.paused = false;
		if (process != null) {
			process.destroyForcibly();
			process.onExit().orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
		}
	}

	/** Kills the process if it runs, and starts it again on the same port. */
	public synchronized void restart() {
		kill();
		List<String> command = new ArrayList<>();
		try {
			command.add(this.version.executable().toString());
			command.addAll(arguments());
			File log = this.directory.resolve("redis.log").toFile();
			Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log).start();
			this.process = process;
			long start = System.nanoTime();
			while (!answers(process)) {
				if (!process.isAlive() || System.nanoTime() - start > PATIENCE.toNanos()) {
					kill();
					throw new IOException("redis-server did not start:\n" + Files.readString(log.toPath()));
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private boolean answers(Process process) {
		try {
			// not those of another process that got the port first
			return text("INFO", "server").contains("process_id:" + process.pid() + "\r");
		}
		catch (UncheckedIOException | RespClient.RedisError ex) {
			return false;
		}
	}

	/**
	 * Sends a command over a connection that is kept for this purpose.
	 * @param words the command and its arguments
	 * @return String, Long, List or null
	 * @throws RespClient.RedisError for an error answer
	 */
	public final synchronized @Nullable Object command(String... words) {
		try {
			RespClient client = this.client;
			if (client == null) {
				client = connect();
				this.client = client;
			}
			return client.command(words);
		}
		catch (IOException ex) {
			disconnect();
			throw new UncheckedIOException(ex);
		}
		catch (UncheckedIOException ex) {
			disconnect();
			throw ex;
		}
	}

	/** Sends a command and returns its answer as text, {@code "null"} for none. */
	public final String text(String... words) {
		return String.valueOf(command(words));
	}

	/** Opens a connection, authenticated if the process has a password. */
	public final RespClient connect() throws IOException {
		RespClient client = new RespClient(this.port, PATIENCE);
		if (this.password != null) {
			client.command("AUTH", this.password);
		}
		return client;
	}

	private void disconnect() {
		RespClient client = this.client;
		this.client = null;
		if (client != null) {
			client.close();
		}
	}

	/** Kills the process and deletes its directory. */
	@Override
	public final synchronized void close() {
		kill();
		RunDirectory.delete(this.directory);
	}

}
