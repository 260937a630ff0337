package io.github.lockspring.redis.redlock;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;

import org.junit.jupiter.api.BeforeEach;

/**
 * The contract of locks, on five independent servers.
 */
class RedlockLockTemplateTests extends AbstractLockTemplateTests {

	private static final RedlockServers servers = Nodes.FIVE;

	@BeforeEach
	void heal() {
		servers.heal();
	}

	@Override
	protected LockStore createStore() {
		return RedlockLockStore.create(Driver.LETTUCE.redlockNodes(servers.ports()), Nodes.SETTINGS);
	}

	@Override
	protected int leftovers() {
		return (int) servers.all()
			.stream()
			.flatMap((server) -> server.keys().stream())
			.filter((left) -> !left.endsWith("}:fence:lock:"))
			.count();
	}

}
