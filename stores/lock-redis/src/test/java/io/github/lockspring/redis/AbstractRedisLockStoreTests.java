package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.AbstractQueueingLockStoreTests;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of stores, on real servers.
 */
abstract class AbstractRedisLockStoreTests extends AbstractQueueingLockStoreTests {

	@Parameter
	Driver driver;

	/** What has been used in this JVM. */
	private static final Set<String> WARM = ConcurrentHashMap.newKeySet();

	@BeforeEach
	void flush() {
		loseEverything();
		if (WARM.add(getClass() + " over " + this.driver)) {
			// the first connection in a JVM loads the driver's classes, which has taken
			// 14 s on a busy machine, and is not what is tested here
			try (LockStore store = createStore()) {
				await().atMost(Duration.ofMinutes(1))
					.ignoreExceptions()
					.until(() -> StoreFixture.isAcquired(store, "warm-up", StoreFixture.token()));
			}
			loseEverything();
		}
	}

	/** The servers that take writes at this moment: each key is at one of them. */
	List<RedisServer> servers() {
		return List.of(RedisServer.shared());
	}

	@Override
	protected LockStore createStore() {
		return StoreFixture.store(applicationFactory(), Duration.ofSeconds(5));
	}

	RedisConnectionFactory applicationFactory() {
		return this.driver.factory(servers().get(0).port());
	}

	@Test
	@Tag("h38")
	void fencingTokenIsRememberedForADayAlsoIfTheReleaseRaisesIt() {
		OwnerToken token = token();
		long raised = fencingToken(acquire(token, Duration.ofHours(1))) + 7;
		this.joined.release(new ReleaseRequest(this.key, token, raised, Duration.ZERO), PATIENT);
		String fence = new RedisKeys("lock:").lockAndFencingToken(this.key).get(1);
		assertThat(get(fence)).isEqualTo(String.valueOf(raised));
		assertThat(pttl(fence)).isGreaterThan(Duration.ofHours(23).toMillis());
	}

	@Override
	protected void loseEverything() {
		servers().forEach(RedisServer::flushAll);
	}

	@Override
	protected long remainingMillis(String key) {
		return pttl("lock:" + key);
	}

	@Override
	protected int leftovers() {
		int count = 0;
		for (RedisServer each : servers()) {
			List<String> keys = each.keys();
			for (String left : keys) {
				if (each.pttl(left) == -1) {
					throw new AssertionError(left + " has no TTL");
				}
			}
			count += (int) keys.stream().filter((left) -> !left.endsWith("}:fence:lock:")).count();
		}
		return count;
	}

	private long pttl(String key) {
		return home(key).map((each) -> each.pttl(key)).orElse(-2L);
	}

	final @Nullable String get(String key) {
		return home(key).map((each) -> each.get(key)).orElse(null);
	}

	// asked by way of KEYS, which no node of a cluster refuses for a slot of another one
	private Optional<RedisServer> home(String key) {
		return servers().stream().filter((each) -> each.keys().contains(key)).findFirst();
	}

}
