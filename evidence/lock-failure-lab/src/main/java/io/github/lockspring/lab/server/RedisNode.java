package io.github.lockspring.lab.server;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;
import redis.embedded.RedisExecProvider;

/**
 * A redis-server that keeps its data in memory only. It keeps its port when it is started
 * again. Used by one thread.
 */
public final class RedisNode implements AutoCloseable {

	/** Numbers the starts: a server must not find the file of an earlier one. */
	private static final AtomicInteger STARTS = new AtomicInteger();

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	/**
	 * The file of the server, unpacked once. Unpacked at each start, it could still be
	 * open for writing in a process that another thread has just begun, and could not be
	 * run.
	 */
	private static @Nullable String executable;

	private final LabProcesses processes;

	private final String id;

	private final int port;

	private Process process;

	/**
	 * Starts a server and waits until it answers.
	 * @param processes starts it
	 * @param id the name of the server
	 * @param options further options, such as {@code --replicaof}
	 */
	public RedisNode(LabProcesses processes, String id, String... options) {
		this.processes = processes;
		this.id = id;
		this.port = freePort();
		this.process = launch(options);
	}

	/**
	 * Returns the name of the server.
	 * @return the name
	 */
	public String id() {
		return this.id;
	}

	/**
	 * Returns the port of the server, on the loopback interface.
	 * @return the port
	 */
	public int port() {
		return this.port;
	}

	/**
	 * Returns the process id of the server.
	 * @return the process id
	 */
	public long pid() {
		return this.process.pid();
	}

	/**
	 * Returns whether the server runs.
	 * @return whether it runs
	 */
	public boolean isUp() {
		return this.process.isAlive();
	}

	/** Kills the server. Its data is gone. */
	public void kill() {
		this.processes.kill(this.process);
	}

	/**
	 * Starts the server again after it was killed, without data.
	 * @param options further options, such as {@code --replicaof}
	 */
	public void restart(String... options) {
		this.process = launch(options);
	}

	/**
	 * Sends a command on a connection of its own.
	 * @param command the command and its arguments
	 * @return the answer
	 */
	public @Nullable Object call(String... command) {
		try (RedisConnection connection = new RedisConnection(this.port, TIMEOUT)) {
			return connection.call(command);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private Process launch(String... options) {
		try {
			List<String> command = new ArrayList<>(List.of(executable(), "--bind", "127.0.0.1", "--port",
					String.valueOf(this.port), "--save", "", "--appendonly", "no", "--logfile", this.id + ".log",
					"--dbfilename", "redis-" + STARTS.incrementAndGet() + ".rdb"));
			command.addAll(List.of(options));
			Process started = this.processes.start(this.id, command);
			awaitAnswer(started);
			return started;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while " + this.id + " started", ex);
		}
	}

	private void awaitAnswer(Process started) throws InterruptedException {
		long deadline = System.nanoTime() + Duration.ofSeconds(20).toNanos();
		while (true) {
			try (RedisConnection connection = new RedisConnection(this.port, TIMEOUT)) {
				connection.call("PING");
				return;
			}
			catch (IOException ex) {
				if (!started.isAlive() || System.nanoTime() - deadline > 0) {
					throw new IllegalStateException("The redis-server " + this.id + " does not start on port "
							+ this.port + "; see " + this.processes.directory().resolve(this.id + ".log"), ex);
				}
				Thread.sleep(10);
			}
		}
	}

	private static synchronized String executable() throws IOException {
		String path = executable;
		if (path == null) {
			path = RedisExecProvider.defaultProvider().get().getPath();
			executable = path;
		}
		return path;
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		kill();
	}

}
