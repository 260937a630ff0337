package io.github.lockspring.jdbc;

import java.util.Objects;
import java.util.stream.Stream;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The contract of stores, on each database.
 */
@ParameterizedClass
@MethodSource("servers")
class JdbcLockStoreContractTests extends AbstractQueueingLockStoreTests {

	private final Server server;

	JdbcLockStoreContractTests(Server server) {
		this.server = server;
	}

	static Stream<Server> servers() {
		return TestDatabases.each().map(Server::of);
	}

	@Override
	protected LockStore createStore() {
		return JdbcLockStore.builder(this.server.pool()).build();
	}

	@Override
	protected void loseEverything() {
		this.server.jdbc().update("DELETE FROM lock_lease_waiter");
		this.server.jdbc().update("DELETE FROM lock_lease");
	}

	@Override
	protected boolean knowsSubscribers() {
		return false;
	}

	@Override
	protected boolean knowsWaiters() {
		return this.server.dialect() == Dialect.POSTGRESQL;
	}

	@Override
	protected int leftovers() {
		return this.server.leftovers(this.key);
	}

	/**
	 * A database that the tests of a class share, and the pool of their stores.
	 */
	record Server(HikariDataSource pool, JdbcTemplate jdbc, Dialect dialect) implements AutoCloseable {

		static Server of(Database database) {
			HikariDataSource pool = JdbcInstance.pool(database);
			pool.setMaximumPoolSize(9);
			pool.setConnectionTimeout(30_000);
			return new Server(pool, new JdbcTemplate(database.dataSource()),
					Dialect.of(database.platform()).orElseThrow());
		}

		/** Counts what is held, and who waits. */
		int leftovers(String key) {
			Integer held = this.jdbc.queryForObject(
					"SELECT COUNT(*) FROM lock_lease WHERE lock_key = ? AND expires_at > " + this.dialect.nowMicros(),
					Integer.class, "lock:" + key);
			Integer waiting = this.jdbc.queryForObject("SELECT COUNT(*) FROM lock_lease_waiter WHERE lock_key = ?",
					Integer.class, "lock:" + key);
			return Objects.requireNonNull(held) + Objects.requireNonNull(waiting);
		}

		@Override
		public void close() {
			this.pool.close();
		}

	}

}
