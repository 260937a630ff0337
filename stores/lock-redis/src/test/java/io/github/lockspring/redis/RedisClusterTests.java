package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.LabelledRequest;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.RecordingListener;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.TTL;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Locks in all slots; one shard that does not answer.
 */
class RedisClusterTests {

	private static final RedisCluster cluster = RedisCluster.shared();

	private static final RedisServer first = cluster.masters().get(0);

	private static final RedisServer second = cluster.masters().get(1);

	@BeforeEach
	void flush() {
		cluster.flushAll();
	}

	/**
	 * Also in one call. Over Jedis the calls of an instance, one for each shard, do not
	 * wait for each other: see below.
	 */
	@Test
	@Tag("cluster-silent-master")
	void deadShardDoesNotStarveTheRenewalsOfTheOther() {
		Duration timeout = Duration.ofSeconds(3);
		try (RedisLockStore store = StoreFixture.store(Driver.LETTUCE.clusterFactory(cluster), timeout)) {
			await().ignoreExceptions().until(() -> isAcquired(store, "warm-up", token()));
			await().until(() -> !store.shard("a").isEmpty());
			List<RenewRequest> requests = new ArrayList<>();
			for (int i = 0; i < 24; i++) {
				OwnerToken token = token();
				String key = "renewed in one call " + i;
				assertThat(acquire(store, key, token)).isInstanceOf(Acquired.class);
				requests.add(new RenewRequest(key, token, TTL));
			}
			second.pause();
			List<RenewResult> answers = new JoinedStore(store).renew(requests, Duration.ofSeconds(9));
			for (int i = 0; i < requests.size(); i++) {
				boolean alive = !isOnSecond(requests.get(i).key());
				assertThat(answers.get(i)).as(requests.get(i).key())
					.isEqualTo(alive ? RenewResult.RENEWED : RenewResult.UNKNOWN);
			}
		}
		finally {
			second.resume();
		}
		cluster.awaitWhole();
	}

	@ParameterizedTest
	@EnumSource
	@Tag("cluster-silent-master")
	void f07StoppedShardLosesNoRenewedLockOfAHealthyOne(Driver driver) {
		try (Instance instance = application(driver)) {
			// those of the healthy shard are due while the other ones wait for an answer
			List<HeldLock> healthy = hold(instance, false, Duration.ofSeconds(4));
			List<HeldLock> stopped = hold(instance, true, Duration.ofSeconds(6));
			second.pause();
			await().atMost(Duration.ofSeconds(30)).until(() -> stopped.stream().noneMatch(HeldLock::isHeld));
			second.resume();
			assertThat(healthy).allMatch(HeldLock::isHeld);
			assertThat(instance.events(LockEvent.Lost.class)).allMatch((lost) -> isOnSecond(lost.key()));
			healthy.forEach(HeldLock::close);
			assertThat(stopped)
				.allSatisfy((lock) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close));
		}
		finally {
			second.resume();
		}
		cluster.awaitWhole();
	}

	private static List<HeldLock> hold(Instance instance, boolean onSecond, Duration ttl) {
		return cluster.locks("renewed ", (master) -> (master == second) == onSecond)
			.limit(10)
			.map((key) -> instance.locks().acquire(LockRequest.of(key).ttl(ttl)))
			.toList();
	}

	/** One that knows the nodes. */
	private static Instance application(Driver driver) {
		Instance instance = Instance.on(driver, new RedisClusterConfiguration(cluster.addresses()), 0);
		await().ignoreExceptions().until(() -> isAcquired(instance.store(), "warm-up " + driver, token()));
		await().until(() -> !instance.store().shard("a").isEmpty());
		return instance;
	}

	@Test
	@Tag("cluster-several-slots")
	void f29LocksInDifferentSlotsAreTakenInOneOrderByAll() throws Exception {
		List<String> keys = List.of("a", "b", "c", "d", "{tag}e");
		assertThat(keys.stream().map((key) -> cluster.masterOf("lock:" + key)).distinct()).hasSize(3);
		List<String> reversed = new ArrayList<>(keys);
		Collections.reverse(reversed);
		int[] counter = new int[1];
		try (Instance one = application(Driver.LETTUCE); Instance two = application(Driver.JEDIS)) {
			List<CompletableFuture<Void>> workers = new ArrayList<>();
			for (Instance instance : List.of(one, two)) {
				List<String> wanted = (instance == one) ? keys : reversed;
				LockRequest request = new LabelledRequest(LockRequest.of("?"), wanted, null)
					.waitTime(Duration.ofSeconds(30));
				workers.add(CompletableFuture.runAsync(() -> {
					for (int i = 0; i < 10; i++) {
						instance.locks().executeWithoutResult(request, (lock) -> counter[0]++);
					}
				}));
			}
			for (CompletableFuture<Void> worker : workers) {
				worker.get(60, TimeUnit.SECONDS);
			}
		}
		assertThat(counter).containsExactly(20);
		assertThat(cluster.masters()).allSatisfy((master) -> assertThat(master.keys())
			.noneMatch((key) -> key.startsWith("lock:") && !key.contains("warm-up")));
	}

	/**
	 * As docs/choose/redis.md has it; also where a waiter is subscribed at another node.
	 */
	@ParameterizedTest
	@EnumSource
	@Tag("h05")
	void locksWorkForAUserWithTheRightsThatAreNeededAndNoMore(Driver driver) {
		for (RedisServer node : cluster.nodes()) {
			node.command(("ACL SETUSER locks reset on >secret ~lock:* ~{*}:queue ~{*}:fence:lock:* "
					+ "~{*}:queue:lock:* &lock:inbox:* +evalsha +eval +publish +subscribe +unsubscribe +pubsub +set +get "
					+ "+del +exists +pexpire +pttl +time +zadd +zcard +zpopmin +zrem +ping "
					+ "+cluster +readonly +asking +info")
				.split(" "));
		}
		RedisClusterConfiguration configuration = new RedisClusterConfiguration(cluster.addresses());
		configuration.setUsername("locks");
		configuration.setPassword("secret");
		RecordingListener listener = new RecordingListener();
		try (RedisLockStore store = StoreFixture.store(driver.factory(configuration), PATIENT)) {
			Inbox inbox = store.inbox(instance(1), listener).orElseThrow();
			inbox.open();
			await().until(inbox::isConfirmed);
			for (String key : List.of("a", "b", "c", "{tag}x", "brace}")) {
				OwnerToken holder = token();
				OwnerToken waiter = token(instance(1));
				assertThat(acquire(store, key, holder)).isInstanceOf(Acquired.class);
				assertThat(StoreFixture.renew(store, key, holder)).containsExactly(RenewResult.RENEWED);
				acquire(store, key, waiter, true, PATIENT);
				release(store, key, holder);
				await().until(() -> listener.grants.stream().anyMatch((grant) -> grant.token().equals(waiter)));
				assertThat(release(store, key, waiter)).isEqualTo(new ReleaseResult.Released());
			}
			await().until(() -> !store.shard("a").isEmpty());
		}
	}

	private static boolean isOnSecond(String key) {
		return cluster.masterOf("lock:" + key) == second;
	}

}
