package io.github.lockspring.jdbc;

import java.time.Duration;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.store.Instance;

import static org.awaitility.Awaitility.await;

/**
 * One instance of an application: a pool, a store, an engine.
 */
record JdbcInstance(HikariDataSource pool, LockStore store, Instance instance) implements AutoCloseable {

	static JdbcInstance on(Database database) {
		HikariDataSource pool = pool(database);
		return on(pool, pool);
	}

	static JdbcInstance on(Database database, DataSource source) {
		return on(pool(database), source);
	}

	private static JdbcInstance on(HikariDataSource pool, DataSource source) {
		LockStore store = JdbcLockStore.builder(source).build();
		return new JdbcInstance(pool, store, Instance.over(store).start());
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
		return this.instance.locks();
	}

	@Override
	public void close() {
		this.instance.close();
		this.pool.close();
	}

}
