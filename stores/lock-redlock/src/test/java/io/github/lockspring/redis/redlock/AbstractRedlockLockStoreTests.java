package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.Comparator;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.AbstractLockStoreTests;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of stores, on five independent servers.
 */
abstract class AbstractRedlockLockStoreTests extends AbstractLockStoreTests {

	private static final RedlockServers servers = Nodes.FIVE;

	@BeforeEach
	void warmUp() {
		// so that the votes of slower nodes, which come after this, are not kept
		Nodes.awaitAll((RedlockLockStore) this.store, servers);
		servers.heal();
	}

	abstract Driver driver();

	@Override
	protected LockStore createStore() {
		return RedlockLockStore.create(driver().redlockNodes(servers.ports()), Nodes.SETTINGS);
	}

	@Override
	protected void loseEverything() {
		servers.heal();
	}

	/** As long as a majority has it. */
	@Override
	protected long remainingMillis(String key) {
		return servers.all()
			.stream()
			.map((server) -> server.pttl("lock:" + key))
			.sorted(Comparator.reverseOrder())
			.toList()
			.get(2);
	}

	@Override
	protected int leftovers() {
		// the minority is told in the background
		await().pollDelay(Duration.ZERO).untilAsserted(() -> assertThat(servers.all()).allSatisfy((server) -> {
			assertThat(server.keys()).noneMatch((key) -> server.pttl(key) == -1);
			assertThat(server.keys()).allMatch((key) -> key.endsWith("}:fence:lock:"));
		}));
		return 0;
	}

	@Test
	@Tag("h28")
	void thereIsNoQueue() {
		assertThat(this.store.inbox(instance('1'), new RecordingListener())).isEmpty();
	}

}
