package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.store.AbstractLockStoreTests;
import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireQuestion;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseQuestion;
import io.github.lockspring.testsupport.RedisServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of stores, on a real server.
 */
abstract class AbstractRedisLockStoreTests extends AbstractLockStoreTests {

	static final RedisServer server = RedisServer.shared();

	/** Drivers that have been used in this JVM. */
	private static final Set<Class<?>> WARM = ConcurrentHashMap.newKeySet();

	@BeforeEach
	void flush() {
		server.flushAll();
		if (WARM.add(getClass())) {
			// the first connection in a JVM loads the driver's classes, which has taken
			// 14 s on a busy machine, and is not what is tested here
			try (LockStore store = createStore()) {
				await().atMost(Duration.ofMinutes(1))
					.ignoreExceptions()
					.until(() -> StoreFixture.isAcquired(store, "warm-up", StoreFixture.token()));
			}
			server.flushAll();
		}
	}

	@Override
	protected LockStore createStore() {
		return RedisLockStore.create(applicationFactory(),
				new RedisStoreSettings("lock:", Duration.ofSeconds(5), true));
	}

	abstract RedisConnectionFactory applicationFactory();

	@Test
	void fencingTokenIsRememberedForTwiceTheLeaseAlsoIfTheReleaseRaisesIt() {
		try (LockStore store = createStore()) {
			Duration ttl = Duration.ofHours(1);
			OwnerToken token = StoreFixture.token();
			Acquired acquired = (Acquired) store.acquire(new AcquireQuestion("long", token, ttl, Look.ONCE), PATIENT);
			long raised = acquired.fence() + 7;
			store.release(new ReleaseQuestion("long", token, ttl, raised, Duration.ZERO), PATIENT);
			assertThat(server.get("{lock:long}:fence")).isEqualTo(String.valueOf(raised));
			assertThat(server.pttl("{lock:long}:fence")).isGreaterThan(Duration.ofMinutes(100).toMillis());
		}
	}

	@Override
	protected void loseEverything() {
		server.flushAll();
	}

	@Override
	protected long remainingMillis(String key) {
		return server.pttl("lock:" + key);
	}

	@Override
	protected int leftovers() {
		for (String left : server.keys()) {
			if (server.pttl(left) < 0) {
				throw new AssertionError(left + " has no TTL");
			}
		}
		return (int) server.keys().stream().filter((left) -> !left.endsWith(":fence")).count();
	}

}
