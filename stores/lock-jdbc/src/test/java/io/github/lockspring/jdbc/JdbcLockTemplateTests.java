package io.github.lockspring.jdbc;

import io.github.lockspring.jdbc.JdbcLockStoreContractTests.Server;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The contract of locks, on each database.
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.JdbcLockStoreContractTests#servers")
class JdbcLockTemplateTests extends AbstractLockTemplateTests {

	private final Server server;

	JdbcLockTemplateTests(Server server) {
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
