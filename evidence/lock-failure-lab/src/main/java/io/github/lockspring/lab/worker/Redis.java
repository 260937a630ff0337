package io.github.lockspring.lab.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;

import io.github.lockspring.lab.server.RedisConnection;
import io.github.lockspring.lab.worker.RunSetup.ServerAddress;
import org.jspecify.annotations.Nullable;

/**
 * A connection of a recipe to a Redis server. Reports each command with its answer, and
 * can be held before and after each one. Not thread-safe.
 */
public final class Redis implements AutoCloseable {

	private final String server;

	private final RedisConnection connection;

	private final Reporter reporter;

	private final Points points;

	Redis(ServerAddress address, Duration timeout, Reporter reporter, Points points) {
		this.server = address.id();
		this.connection = new RedisConnection(address.port(), timeout);
		this.reporter = reporter;
		this.points = points;
	}

	/**
	 * Sends a command and waits for its answer.
	 * @param command the command and its arguments
	 * @return a {@code String}, a {@code Long}, a {@code List}, or null for nil
	 * @throws UncheckedIOException if the server cannot be reached, does not answer in
	 * time, or answers with an error
	 */
	public @Nullable Object call(String... command) {
		this.points.reach("before " + command[0]);
		long sent = System.nanoTime();
		try {
			Object answer = this.connection.call(command);
			report(String.valueOf((answer != null) ? answer : "(nil)"), sent, command);
			this.points.reach("after " + command[0]);
			return answer;
		}
		catch (IOException ex) {
			report(String.valueOf(ex.getMessage()), sent, command);
			throw new UncheckedIOException(this.server + ": " + ex.getMessage(), ex);
		}
	}

	private void report(String answer, long sent, String... command) {
		double millis = (System.nanoTime() - sent) / 1e6;
		this.reporter.report("command", "command", String.join(" ", command).replaceAll("\\s+", " "), "answer", answer,
				"tookMillis", millis, "to", this.server);
	}

	@Override
	public void close() {
		this.connection.close();
	}

}
