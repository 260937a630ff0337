package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.UUID;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.AbstractLockTemplateTests;
import io.github.lockspring.testsupport.store.JoinedStore;

import static org.awaitility.Awaitility.await;

/**
 * The contract of locks, on a server with sessions as short as a brief lease, which are
 * in use already: what the store promises is proven then.
 */
class ZooKeeperLockTemplateTests extends AbstractLockTemplateTests {

	private static final Duration SESSION = Duration.ofSeconds(6);

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private final ZooKeeperTestServer server = ZooKeeperTestServer.shared();

	@Override
	protected LockStore createStore() {
		LockStore store = ZooKeeperLockStore.builder(this.server.connectString())
			.sessionTimeout(SESSION)
			.clock(this::now)
			.build();
		JoinedStore joined = new JoinedStore(store);
		OwnerToken token = new OwnerToken("zk-template-tests-0001", 1, 1000);
		String key = "in use " + UUID.randomUUID();
		await().ignoreException(LockUnavailableException.class).until(() -> {
			joined.acquire(new AcquireRequest(key, token, SESSION, true), PATIENT);
			joined.release(new ReleaseRequest(key, token), PATIENT);
			return store.lease(SESSION).equals(store.traits().lease(SESSION));
		});
		return store;
	}

	@Override
	protected int leftovers() {
		return this.server.entries();
	}

}
