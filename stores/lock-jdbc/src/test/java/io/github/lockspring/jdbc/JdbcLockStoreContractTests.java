package io.github.lockspring.jdbc;

import java.util.Objects;
import java.util.function.Supplier;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.function.SingletonSupplier;

/**
 * The contract of stores, on each database.
 */
class JdbcLockStoreContractTests {

	static final Supplier<Server> H2 = server(Databases::h2);

	static final Supplier<Server> POSTGRES = server(Databases::postgres);

	/** Its users may choose this as the default; then statements are refused at times. */
	private static final Supplier<Server> SERIALIZABLE_POSTGRES = server(
			() -> Databases.postgres().with("?options=-c%20default_transaction_isolation=serializable"));

	static final Supplier<Server> MARIA_DB = server(() -> Databases.mariaDb().orElseThrow());

	private static Supplier<Server> server(Supplier<Database> database) {
		return SingletonSupplier.of(() -> Server.of(database.get().withLocks()));
	}

	@Nested
	class OnH2 extends Contract {

		OnH2() {
			super(H2.get());
		}

		@Override
		protected boolean knowsWaiters() {
			return false;
		}

	}

	@Nested
	class OnPostgres extends Contract {

		OnPostgres() {
			super(POSTGRES.get());
		}

	}

	@Nested
	@Tag("contracts")
	class OnSerializablePostgres extends Contract {

		OnSerializablePostgres() {
			super(SERIALIZABLE_POSTGRES.get());
		}

	}

	@Nested
	@EnabledIfSystemProperty(named = "lockspring.mariadb", matches = ".+")
	class OnMariaDb extends Contract {

		OnMariaDb() {
			super(MARIA_DB.get());
		}

		@Override
		protected boolean knowsWaiters() {
			return false;
		}

	}

	abstract static class Contract extends AbstractQueueingLockStoreTests {

		private final Server server;

		Contract(Server server) {
			this.server = server;
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
		protected int leftovers() {
			return this.server.leftovers(this.key);
		}

	}

	/**
	 * A database that the tests of a class share, and the pool of their stores.
	 */
	record Server(HikariDataSource pool, JdbcTemplate jdbc, Dialect dialect) {

		static Server of(Database database) {
			HikariDataSource pool = new HikariDataSource();
			pool.setJdbcUrl(database.url());
			pool.setUsername(database.user());
			pool.setPassword(database.password());
			pool.setMaximumPoolSize(9);
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

	}

}
