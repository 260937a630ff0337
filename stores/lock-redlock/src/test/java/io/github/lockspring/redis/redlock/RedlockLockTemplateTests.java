package io.github.lockspring.redis.redlock;

import java.time.Duration;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/**
 * The contract of locks, on three independent servers.
 */
class RedlockLockTemplateTests extends AbstractLockTemplateTests {

	private static final RedlockSettings SETTINGS = new RedlockSettings("lock:", Duration.ofSeconds(5),
			Duration.ofSeconds(5), Duration.ofMillis(1500), 0, Duration.ofMinutes(5), true);

	private static RedlockServers servers;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@AfterAll
	static void stop() {
		servers.close();
	}

	@Override
	protected LockStore createStore() {
		return RedlockLockStore.create(Driver.LETTUCE.redlockNodes(servers.ports()), SETTINGS);
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
