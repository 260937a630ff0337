package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.jdbc.Databases.Database;

import static org.awaitility.Awaitility.await;

/**
 * One instance of an application: a pool, a store, an engine.
 */
final class JdbcInstance implements AutoCloseable {

	private final HikariDataSource pool;

	private final LockStore store;

	private final LockEngine engine;

	private final Queue<LockEvent> events = new ConcurrentLinkedQueue<>();

	private JdbcInstance(HikariDataSource pool, DataSource source) {
		this.pool = pool;
		this.store = JdbcLockStore.builder(source).build();
		EngineSettings defaults = EngineSettings.defaults();
		// long leases are renewed soon
		this.engine = new LockEngine(
				this.store, new EngineSettings(defaults.ttl(), defaults.waitTime(), defaults.maxHold(),
						defaults.commandTimeout(), defaults.shutdownTimeout(), defaults.asyncRelease()),
				this.events::add);
		this.engine.start();
	}

	static JdbcInstance on(Database database) {
		HikariDataSource pool = pool(database);
		return new JdbcInstance(pool, pool);
	}

	static JdbcInstance on(Database database, DataSource source) {
		return new JdbcInstance(pool(database), source);
	}

	/** Creates a pool as the application's auto-configuration does. */
	static HikariDataSource pool(Database database) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(database.url());
		pool.setUsername(database.user());
		pool.setPassword(database.password());
		pool.setMaximumPoolSize(6);
		pool.setMinimumIdle(1);
		pool.setConnectionTimeout(500);
		pool.setValidationTimeout(500);
		pool.setInitializationFailTimeout(-1);
		// HikariCP that loses its first connection while it reads the default never has
		// one
		pool.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
		return pool;
	}

	/** Verifies a lock, again if a request had no answer in time. */
	static void verify(HeldLock lock) {
		await().pollDelay(Duration.ZERO)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(((KeyedLock) lock)::verify);
	}

	LockTemplate locks() {
		return this.engine.template();
	}

	LockStore store() {
		return this.store;
	}

	HikariDataSource pool() {
		return this.pool;
	}

	Queue<LockEvent> events() {
		return this.events;
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
		this.pool.close();
	}

}
