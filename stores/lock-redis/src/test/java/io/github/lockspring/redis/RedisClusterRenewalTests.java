package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Many locks, hardly two of which share a slot: each is renewed by a script of its own.
 */
class RedisClusterRenewalTests {

	private static final int LOCKS = (Integer.getInteger("lockspring.topology.rounds", 1) > 1) ? 3000 : 300;

	private static final int BATCH = 100;

	private static final int ROUNDS = 5;

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private static final RedisCluster cluster = RedisCluster.shared();

	@ParameterizedTest
	@EnumSource
	void thousandsOfLocksAreRenewedInTime(Driver driver) {
		cluster.flushAll();
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), TIMEOUT)) {
			acquire(store, "warm-up", token());
			await().until(() -> !store.shard("any").isEmpty());
			Map<String, List<RenewRequest>> byShard = new HashMap<>();
			for (int i = 0; i < LOCKS; i++) {
				OwnerToken token = token();
				String key = "order:" + i;
				acquire(store, key, token);
				byShard.computeIfAbsent(store.shard(key), (shard) -> new ArrayList<>())
					.add(new RenewRequest(key, token, Duration.ofMinutes(2)));
			}
			assertThat(byShard).hasSize(3);
			long best = Long.MAX_VALUE;
			for (int round = 0; round < ROUNDS; round++) {
				long start = System.nanoTime();
				byShard.values().parallelStream().forEach((requests) -> renew(store, requests));
				best = Math.min(best, System.nanoTime() - start);
			}
			System.out.printf("%s: %d locks over 3 nodes are renewed in %d ms%n", driver, LOCKS, best / 1_000_000);
			// a third of the default lease
			assertThat(Duration.ofNanos(best)).isLessThan(TIMEOUT);
		}
		finally {
			cluster.flushAll();
		}
	}

	/** As the engine does it: for each shard one batch after the other. */
	private static void renew(RedisLockStore store, List<RenewRequest> requests) {
		for (int from = 0; from < requests.size(); from += BATCH) {
			List<RenewRequest> batch = requests.subList(from, Math.min(from + BATCH, requests.size()));
			assertThat(new JoinedStore(store).renew(batch, TIMEOUT)).containsOnly(RenewResult.RENEWED);
		}
	}

}
