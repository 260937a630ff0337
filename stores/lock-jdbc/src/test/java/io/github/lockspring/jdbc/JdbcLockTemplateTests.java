package io.github.lockspring.jdbc;

import io.github.lockspring.jdbc.JdbcLockStoreContractTests.Server;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * The contract of locks, on each database.
 */
class JdbcLockTemplateTests {

	@Nested
	class OnH2 extends Contract {

		OnH2() {
			super(JdbcLockStoreContractTests.H2.get());
		}

	}

	@Nested
	class OnPostgres extends Contract {

		OnPostgres() {
			super(JdbcLockStoreContractTests.POSTGRES.get());
		}

	}

	@Nested
	@EnabledIfSystemProperty(named = "lockspring.mariadb", matches = ".+")
	class OnMariaDb extends Contract {

		OnMariaDb() {
			super(JdbcLockStoreContractTests.MARIA_DB.get());
		}

	}

	abstract static class Contract extends AbstractLockTemplateTests {

		private final Server server;

		Contract(Server server) {
			this.server = server;
		}

		@Override
		protected LockStore createStore() {
			return JdbcLockStore.builder(this.server.pool()).build();
		}

		@Override
		protected int leftovers() {
			return this.server.leftovers(this.key);
		}

	}

}
