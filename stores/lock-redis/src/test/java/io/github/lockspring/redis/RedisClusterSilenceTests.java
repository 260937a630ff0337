package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A client cannot be heard by one node of a cluster, and the others answer.
 */
class RedisClusterSilenceTests {

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private static final RedisCluster cluster = RedisCluster.shared();

	private static final RedisServer healthy = cluster.masters().get(0);

	private static final RedisServer silent = cluster.masters().get(1);

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private final AtomicInteger keys = new AtomicInteger();

	@AfterEach
	void restore() {
		this.executor.shutdownNow();
		announce(0);
		cluster.awaitWhole();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("cluster-dropped-connections")
	void f07ConnectionThatWasForgottenOnTheWayIsMadeAnewAndOthersStay(Driver driver) throws Exception {
		try (TcpProxy proxy = new TcpProxy(silent.port())) {
			announce(proxy.port());
			try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), COMMAND_TIMEOUT)) {
				for (RedisServer node : cluster.masters()) {
					await().ignoreExceptions().until(() -> isAcquired(store, node));
				}
				await().until(() -> !store.shard("any").isEmpty());
				AtomicBoolean enough = new AtomicBoolean();
				Future<Integer> atHealthy = this.executor.submit(() -> acquireWithoutFailure(store, enough));
				Set<String> before = await().until(() -> connections(" cmd=evalsha "), (ids) -> !ids.isEmpty());
				proxy.stall();
				proxy.restoreForNewConnections();
				// the other driver makes a connection and tries again before it reports a
				// failure
				if (driver == Driver.LETTUCE) {
					assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> isAcquired(store, silent));
				}
				await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> isAcquired(store, silent));
				enough.set(true);
				assertThat(atHealthy.get()).isPositive();
				assertThat(connections("")).containsAll(before);
			}
		}
	}

	private int acquireWithoutFailure(RedisLockStore store, AtomicBoolean enough) throws InterruptedException {
		int calls = 0;
		for (; !enough.get(); calls++) {
			assertThat(acquire(store, key(healthy), token())).isInstanceOf(Acquired.class);
			Thread.sleep(10);
		}
		return calls;
	}

	private boolean isAcquired(RedisLockStore store, RedisServer node) {
		return acquire(store, key(node), token(), false, TIMEOUT) instanceof Acquired;
	}

	/** One that nobody has. */
	private String key(RedisServer node) {
		String prefix = "silence " + this.keys.incrementAndGet() + " " + System.nanoTime() + " ";
		return cluster.locks(prefix, node::equals).findFirst().orElseThrow();
	}

	/** Those to the healthy node whose description contains the words. */
	private static Set<String> connections(String words) {
		return Objects.toString(healthy.command("CLIENT", "LIST"))
			.lines()
			.filter((line) -> line.contains(words))
			.map((line) -> line.substring(0, line.indexOf(' ')))
			.collect(Collectors.toSet());
	}

	/** Lets the silent node tell clients another port, or with 0 its own. */
	private static void announce(int port) {
		silent.command("CONFIG", "SET", "cluster-announce-port", String.valueOf(port));
		// so that it sends pings, which carry the port, at once
		silent.command("CONFIG", "SET", "cluster-node-timeout", "500");
		String address = silent.host() + ":" + ((port != 0) ? port : silent.port()) + "@";
		for (RedisServer node : cluster.nodes()) {
			await().atMost(Duration.ofSeconds(60))
				.until(() -> Objects.toString(node.command("CLUSTER", "NODES")).contains(address));
		}
		cluster.stayAsYouAre();
	}

}
