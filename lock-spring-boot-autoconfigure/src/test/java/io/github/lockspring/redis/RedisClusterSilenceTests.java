package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.testsupport.RedisCluster;
import io.github.lockspring.testsupport.RedisServer;
import io.github.lockspring.testsupport.TcpProxy;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * One node of a cluster says nothing for longer than it takes to distrust connections.
 */
class RedisClusterSilenceTests {

	private static final Duration TIMEOUT = Duration.ofMillis(500);

	/** Which takes two seconds while a node does not answer. */
	private static final Duration SHORTER_THAN_CONNECTING = Duration.ofSeconds(1);

	private static final RedisStoreSettings SETTINGS = new RedisStoreSettings("lock:", TIMEOUT, true);

	private static final RedisCluster cluster = RedisCluster.shared();

	private static final RedisServer silent = cluster.masters().get(1);

	private final ExecutorService executor = Executors.newSingleThreadExecutor();

	private final AtomicInteger keys = new AtomicInteger();

	@AfterEach
	void restore() {
		this.executor.shutdownNow();
		silent.resume();
		cluster.awaitWhole();
	}

	@ParameterizedTest
	@EnumSource
	void f07QuietClientOfOneSilentNodeIsAnsweredByTheOthers(Driver driver) {
		try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), SETTINGS)) {
			warmUp(store);
			silent.pause();
			for (int i = 0; i < 3; i++) {
				for (int j = 0; j < 4; j++) {
					assertThatExceptionOfType(LockUnavailableException.class)
						.isThrownBy(() -> acquire(store, key(true), token(), Look.ONCE, TIMEOUT));
				}
				assertThat(acquire(store, key(false), token(), Look.ONCE, SHORTER_THAN_CONNECTING))
					.isInstanceOf(Acquired.class);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void f07ConnectionThatWasForgottenOnTheWayIsMadeAnewWhileOtherNodesAnswer(Driver driver) throws Exception {
		try (TcpProxy proxy = new TcpProxy(silent.port())) {
			announce(proxy.port());
			try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), SETTINGS)) {
				warmUp(store);
				assertThat(proxy.connections()).isPositive();
				AtomicBoolean enough = new AtomicBoolean();
				Future<Integer> atOthers = this.executor.submit(() -> callOthers(store, enough));
				proxy.stall();
				proxy.restoreForNewConnections();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> acquire(store, key(true), token(), Look.ONCE, TIMEOUT));
				await().atMost(Duration.ofSeconds(20))
					.ignoreExceptions()
					.until(() -> acquire(store, key(true), token(), Look.ONCE, TIMEOUT) instanceof Acquired);
				enough.set(true);
				assertThat(atOthers.get()).isPositive();
			}
		}
		finally {
			announce(0);
		}
	}

	/** Without a single failure. */
	private int callOthers(RedisLockStore store, AtomicBoolean enough) {
		int calls = 0;
		for (; !enough.get(); calls++) {
			assertThat(acquire(store, key(false), token())).isInstanceOf(Acquired.class);
		}
		return calls;
	}

	private void warmUp(RedisLockStore store) {
		for (boolean atSilent : new boolean[] { true, false }) {
			await().ignoreExceptions()
				.until(() -> acquire(store, key(atSilent), token(), Look.ONCE, TIMEOUT) instanceof Acquired);
		}
		await().until(() -> !store.lane("any").isEmpty());
	}

	/** One that nobody has. */
	private String key(boolean atSilent) {
		return IntStream.generate(this.keys::incrementAndGet)
			.mapToObj((i) -> "silence " + System.nanoTime() + " " + i)
			.filter((key) -> (cluster.masterOf(RedisKeys.slot("lock:" + key)) == silent) == atSilent)
			.findFirst()
			.orElseThrow();
	}

	/** Lets all nodes tell clients another port, or with 0 the true one. */
	private static void announce(int port) {
		silent.command("CONFIG", "SET", "cluster-announce-port", String.valueOf(port));
		// so that it sends pings, which carry the address, at once
		silent.command("CONFIG", "SET", "cluster-node-timeout", "500");
		String address = silent.host() + ":" + ((port != 0) ? port : silent.port());
		for (RedisServer node : cluster.nodes()) {
			await().atMost(Duration.ofSeconds(60))
				.until(() -> Objects.toString(node.command("CLUSTER", "NODES")).contains(address + "@"));
		}
		cluster.stayAsYouAre();
	}

}
