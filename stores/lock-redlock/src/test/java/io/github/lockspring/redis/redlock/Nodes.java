package io.github.lockspring.redis.redlock;

import java.time.Duration;

import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.JoinedStore;

import static org.awaitility.Awaitility.await;

/**
 * The servers that the tests of this JVM share, and end with it. A test leaves them
 * running and heals them.
 */
final class Nodes {

	static final RedlockServers FIVE = RedlockServers.start(5);

	/** For tests whose timeouts are not the point, over servers that forget nothing. */
	static final RedlockSettings SETTINGS = new RedlockSettings("lock:", Duration.ofSeconds(5), Duration.ofSeconds(5),
			Duration.ofMillis(1500), 0, Duration.ofMinutes(5), true);

	private Nodes() {
	}

	/** Waits until a store gets the votes of all servers. */
	static void awaitAll(RedlockLockStore store, RedlockServers servers) {
		await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
			OwnerToken token = StoreFixture.token();
			AcquireRequest request = new AcquireRequest("warm-up", token, Duration.ofSeconds(5), false);
			boolean everywhere = new JoinedStore(store).acquire(request, StoreFixture.PATIENT) instanceof Acquired
					&& servers.having("lock:warm-up").size() == servers.all().size();
			StoreFixture.release(store, "warm-up", token);
			return everywhere;
		});
	}

}
