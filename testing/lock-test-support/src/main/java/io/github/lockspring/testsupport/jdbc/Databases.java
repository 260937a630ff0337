package io.github.lockspring.testsupport.jdbc;

import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.github.lockspring.testsupport.network.ServerPorts;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import org.h2.tools.Server;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;
import org.springframework.util.function.SingletonSupplier;
import org.springframework.util.function.ThrowingSupplier;

/**
 * Real databases, each of them new and empty. The servers are started when the first test
 * needs them, once in a JVM, on the loopback interface, and end with it. Thread-safe.
 *
 * @since 0.1
 */
public final class Databases {

	private static final AtomicInteger names = new AtomicInteger();

	private static final Supplier<Server> h2Server = SingletonSupplier
		.of(ThrowingSupplier.of(() -> Server.createTcpServer("-tcpPort", "0", "-ifNotExists", "-tcpDaemon").start()));

	private static final Supplier<EmbeddedPostgres> postgres = SingletonSupplier
		.of(ThrowingSupplier.of(() -> EmbeddedPostgres.builder()
			.setServerConfig("fsync", "off")
			.setPGStartupWait(PostgresServer.STARTUP)
			// no client gets it while the data directory is made, which takes seconds
			.setPort(ServerPorts.free())
			.start()));

	private Databases() {
	}

	/** Creates an H2 database in the memory of this JVM. */
	public static Database h2() {
		return h2("");
	}

	/**
	 * Creates an H2 database in the memory of this JVM.
	 * @param settings further settings, such as {@code ";MODE=MySQL"}
	 */
	public static Database h2(String settings) {
		return new Database("h2", "jdbc:h2:mem:" + newName() + ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000" + settings, "sa",
				"");
	}

	/** Creates an H2 database in the memory of this JVM that other JVMs can reach. */
	public static Database h2Server() {
		return new Database("h2", "jdbc:h2:tcp://127.0.0.1:" + h2Server.get().getPort() + "/mem:" + newName()
				+ ";DB_CLOSE_DELAY=-1;LOCK_TIMEOUT=20000", "sa", "");
	}

	/** Creates a database on PostgreSQL 14, which other JVMs can reach. */
	public static Database postgres() {
		EmbeddedPostgres server = postgres.get();
		String name = newName();
		new JdbcTemplate(server.getPostgresDatabase()).execute("CREATE DATABASE " + name);
		return new Database("postgresql", "jdbc:postgresql://127.0.0.1:" + server.getPort() + "/" + name, "postgres",
				"");
	}

	/**
	 * Names a new database on a running MariaDB server on which root needs no password:
	 * {@code -Dlockspring.mariadb=127.0.0.1:3306}.
	 * @return the database, or empty if no server was named
	 */
	public static Optional<Database> mariaDb() {
		String server = System.getProperty("lockspring.mariadb");
		if (server == null) {
			return Optional.empty();
		}
		String name = newName() + "_" + ProcessHandle.current().pid();
		return Optional.of(new Database("mariadb",
				"jdbc:mariadb://" + server + "/" + name + "?createDatabaseIfNotExist=true", "root", ""));
	}

	private static String newName() {
		return "test" + names.incrementAndGet();
	}

	/**
	 * How to connect to a database.
	 *
	 * @param platform the platform's name in the names of scripts
	 * @param url the JDBC URL
	 * @param user the user
	 * @param password the password
	 */
	public record Database(String platform, String url, String user, String password) {

		/** Creates a source that opens a connection for each request. */
		public DataSource dataSource() {
			return new DriverManagerDataSource(this.url, this.user, this.password);
		}

		/**
		 * Returns the same database with further settings of the connection.
		 * @param settings what is added to the URL
		 */
		public Database with(String settings) {
			return new Database(this.platform, this.url + settings, this.user, this.password);
		}

		/** Creates the table of fencing tokens. */
		public Database withFencingTokens() {
			run("io/github/lockspring/fencing/lock-fence-" + this.platform + ".sql");
			return this;
		}

		/** Creates the table of locks. */
		public Database withLocks() {
			run("io/github/lockspring/jdbc/lock-lease-" + this.platform + ".sql");
			return this;
		}

		/**
		 * Runs a script.
		 * @param resource where it is on the class path
		 */
		public void run(String resource) {
			new ResourceDatabasePopulator(new ClassPathResource(resource)).execute(dataSource());
		}

		@Override
		public String toString() {
			return this.platform;
		}

	}

}
