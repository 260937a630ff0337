package io.github.lockspring.testsupport.jdbc;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.network.ServerPorts;
import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.process.RunDirectory;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * A PostgreSQL server that can fail: killed and started again with its data, or paused.
 * Used by one thread.
 *
 * @since 0.1
 */
public final class PostgresServer implements AutoCloseable {

	/** A busy machine needs longer than the default of ten seconds. */
	static final Duration STARTUP = Duration.ofMinutes(1);

	private final Path data;

	private EmbeddedPostgres server;

	private PostgresServer(Path data) throws IOException {
		this.data = data;
		this.server = start(data, ServerPorts.free());
	}

	/** Starts a server. */
	public static PostgresServer start() {
		try {
			return new PostgresServer(Files.createTempDirectory("postgres"));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static EmbeddedPostgres start(Path data, int port) throws IOException {
		EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder()
			.setDataDirectory(data)
			.setCleanDataDirectory(false)
			.setPGStartupWait(STARTUP)
			.setServerConfig("fsync", "off")
			// off by default here: a killed server would forget what it has just
			// committed
			.setServerConfig("synchronous_commit", "on");
		return builder.setPort(port).start();
	}

	/** Returns the port. */
	public int port() {
		return this.server.getPort();
	}

	/** Returns the version that the server says it has. */
	public String version() {
		return String
			.valueOf(new JdbcTemplate(database().dataSource()).queryForObject("SHOW server_version", String.class));
	}

	/** Returns the database. */
	public Database database() {
		return database(port());
	}

	/**
	 * Returns the database as it is reached through a proxy.
	 * @param port the port of the proxy
	 */
	public Database database(int port) {
		return new Database("postgresql", "jdbc:postgresql://127.0.0.1:" + port + "/postgres", "postgres", "");
	}

	/** Kills all processes of the server. */
	public void kill() {
		signal("KILL");
		try {
			this.server.close();
		}
		catch (IOException | RuntimeException ex) {
			// it is dead already
		}
	}

	/** Starts a killed server on its data and port. */
	public void restart() {
		try {
			int port = port();
			Files.deleteIfExists(this.data.resolve("postmaster.pid"));
			this.server = start(this.data, port);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Pauses all processes of the server. */
	public void pause() {
		signal("STOP");
	}

	/** Ends a pause. */
	public void resume() {
		signal("CONT");
	}

	/**
	 * Signals all processes: first the one that starts others, then those that it had,
	 * and one that it was starting.
	 */
	private void signal(String name) {
		ProcessHandle postmaster = postmaster();
		List<ProcessHandle> children = postmaster.descendants().toList();
		JavaProcess.signal(postmaster.pid(), name);
		Stream.concat(children.stream(), postmaster.descendants()).distinct().forEach((child) -> signal(child, name));
	}

	private static void signal(ProcessHandle child, String name) {
		try {
			JavaProcess.signal(child.pid(), name);
		}
		catch (IllegalStateException ex) {
			if (child.isAlive()) {
				throw ex;
			}
		}
	}

	private ProcessHandle postmaster() {
		try {
			String pid = Files.readAllLines(this.data.resolve("postmaster.pid")).get(0).trim();
			return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Override
	public void close() {
		try {
			this.server.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		RunDirectory.delete(this.data);
	}

}
