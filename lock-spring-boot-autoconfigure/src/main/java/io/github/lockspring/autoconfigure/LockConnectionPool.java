package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.Set;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.jdbc.DataSourceBuilder;
import org.springframework.boot.jdbc.DataSourceUnwrapper;
import org.springframework.boot.jdbc.DatabaseDriver;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;
import org.springframework.util.ClassUtils;

/**
 * The connections of the store: a small pool of its own, to the database of the
 * application. Callers that wait for a lock while they hold all connections of the
 * application's pool cannot keep the holder from releasing it, and a lock takes part in
 * no transaction of theirs. Not a {@link DataSource} itself, since a second bean of that
 * type would end injection by type.
 */
final class LockConnectionPool implements DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(LockConnectionPool.class);

	private static final String NAME = "lockspring";

	private static final String OWN_SOURCE = "Define another DataSource bean for the locks, with @LockDataSource.";

	/** HikariCP's minimum for timeouts. */
	private static final long MIN_TIMEOUT_MILLIS = 250;

	private static final Set<DatabaseDriver> KNOWN = Set.of(DatabaseDriver.H2, DatabaseDriver.POSTGRESQL,
			DatabaseDriver.MARIADB, DatabaseDriver.MYSQL, DatabaseDriver.UNKNOWN);

	/** Drivers of any database: the first request shows which. */
	private static final Set<DatabaseDriver> WRAPPERS = Set.of(DatabaseDriver.AWS_WRAPPER,
			DatabaseDriver.TESTCONTAINERS);

	/** HikariCP's default, which older versions do not return. */
	private static final int DEFAULT_SIZE = 10;

	private final DataSource dataSource;

	private final String name;

	private final Runnable closing;

	private LockConnectionPool(DataSource dataSource, String name, Runnable closing) {
		this.dataSource = dataSource;
		this.name = name;
		this.closing = closing;
	}

	/**
	 * Uses a source of the application, which remains the application's to close. Warns
	 * if it is too small.
	 * @param connections the largest number of connections that requests use
	 */
	static LockConnectionPool of(DataSource dataSource, int connections) {
		HikariDataSource pool = unwrap(dataSource);
		if (pool != null) {
			int needed = connections + listening(driver(pool));
			int size = (pool.getMaximumPoolSize() > 0) ? pool.getMaximumPoolSize() : DEFAULT_SIZE;
			if (size < needed) {
				logger
					.warn("The pool of the @LockDataSource ({}) has {} connections at most, and the locks use up to {}:"
							+ " requests wait for each other, and renewals too. Set its maximumPoolSize to {}, or lower"
							+ " distributed-lock.jdbc.connections", name(pool), size, needed, needed);
			}
		}
		String name = (pool != null) ? name(pool) : "@LockDataSource " + dataSource.getClass().getName();
		return new LockConnectionPool(dataSource, name, () -> {
		});
	}

	/**
	 * Derives a pool. Does not wait for a connection.
	 * @param application the application's source
	 * @param connections the largest number of connections
	 * @param timeout how long to wait for one
	 */
	static LockConnectionPool derivedFrom(DataSource application, int connections, Duration timeout) {
		HikariConfig config = copy(application);
		DatabaseDriver driver = driver(config);
		if (!KNOWN.contains(driver)) {
			throw refused("locks cannot be kept in this database (" + driver + ")",
					"Keep them in another one, of a DataSource bean with @LockDataSource: H2, PostgreSQL, MariaDB or"
							+ " MySQL.",
					null);
		}
		config.setPoolName(NAME);
		config.setMaximumPoolSize(connections + listening(driver));
		config.setMinimumIdle(1);
		config.setConnectionTimeout(Math.max(MIN_TIMEOUT_MILLIS, timeout.toMillis()));
		config.setValidationTimeout(Math.min(config.getValidationTimeout(), config.getConnectionTimeout()));
		// the application starts also while its database is down
		config.setInitializationFailTimeout(-1);
		config.setLeakDetectionThreshold(0);
		config.setRegisterMbeans(false);
		config.setAutoCommit(true);
		config.setReadOnly(false);
		config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		HikariDataSource pool = new HikariDataSource(config);
		return new LockConnectionPool(pool, name(config), pool::close);
	}

	/** Derives the database from the URL; unknown if another driver is wrapped. */
	private static DatabaseDriver driver(HikariConfig config) {
		DatabaseDriver driver = DatabaseDriver.fromJdbcUrl(config.getJdbcUrl());
		return WRAPPERS.contains(driver) ? DatabaseDriver.UNKNOWN : driver;
	}

	/**
	 * Returns how many more connections listen to notifications while callers wait. An
	 * unknown driver may be that of PostgreSQL in another's clothes.
	 */
	private static int listening(DatabaseDriver driver) {
		return (driver == DatabaseDriver.POSTGRESQL || driver == DatabaseDriver.UNKNOWN) ? 1 : 0;
	}

	private static HikariConfig copy(DataSource application) {
		AbstractRoutingDataSource routing = DataSourceUnwrapper.unwrap(application, AbstractRoutingDataSource.class);
		if (routing != null) {
			// the pool would be that of the present thread's database, another one in
			// each instance
			throw refused(ClassUtils.getShortName(routing.getClass()) + " chooses a database for each call, and locks"
					+ " need one for all", OWN_SOURCE, null);
		}
		HikariConfig config = new HikariConfig();
		HikariDataSource pool = unwrap(application);
		if (pool != null) {
			pool.copyStateTo(config);
			return config;
		}
		try {
			DataSourceBuilder.derivedFrom(application).type(HikariDataSource.class).build().copyStateTo(config);
		}
		catch (RuntimeException ex) {
			throw refused("no connections of its own can be derived from the application's DataSource, "
					+ application.getClass().getName(), OWN_SOURCE, ex);
		}
		return config;
	}

	private static @Nullable HikariDataSource unwrap(DataSource dataSource) {
		return DataSourceUnwrapper.unwrap(dataSource, HikariConfigMXBean.class, HikariDataSource.class);
	}

	/**
	 * Returns the address and the user, without what may be a password: parameters, and
	 * credentials before an @.
	 */
	static String name(HikariConfig config) {
		String url = String.valueOf(config.getJdbcUrl())
			.replaceFirst("[?;]\\w+=.*", "")
			.replaceFirst("^(jdbc:(?:aws-wrapper:)?\\w+:(?:thin:)?/{0,2}).*@", "$1");
		return (config.getUsername() != null) ? url + ", user '" + config.getUsername() + "'" : url;
	}

	static LockConfigurationException refused(String problem, String remedy, @Nullable Exception cause) {
		return new LockConfigurationException(
				"The locks cannot be kept in the application's database: " + problem + ".", remedy, cause);
	}

	String name() {
		return this.name;
	}

	DataSource dataSource() {
		return this.dataSource;
	}

	@Override
	public void destroy() {
		this.closing.run();
	}

}
