package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.LabelledRequest;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
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

	/** So that a shard that does not answer is waited for again and again. */
	private static final EngineSettings SMALL_BATCHES = new EngineSettings(Duration.ofSeconds(30),
			Duration.ofSeconds(5), null, Duration.ofSeconds(1), Duration.ofSeconds(1), false);

	@BeforeEach
	void flush() {
		cluster.flushAll();
	}

	@ParameterizedTest
	@EnumSource
	void locksOfAllSlotsAreTakenRenewedInOneCallAndReleased(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			List<RenewRequest> requests = new ArrayList<>();
			for (String key : List.of("a", "b", "c", "d", "{tag}x", "{tag}y", "brace}", "{brace", "é")) {
				OwnerToken token = token();
				assertThat(acquire(store, key, token)).as(key).isInstanceOf(Acquired.class);
				requests.add(new RenewRequest(key, token, TTL));
			}
			assertThat(cluster.masters()).noneMatch((master) -> master.keys().isEmpty());
			requests.add(3, new RenewRequest("nobody's", token(), TTL));
			List<RenewResult> answers = new JoinedStore(store).renew(requests, PATIENT);
			assertThat(answers.get(3)).isEqualTo(RenewResult.NOT_OWNER);
			requests.remove(3);
			assertThat(answers).filteredOn(RenewResult.RENEWED::equals).hasSameSizeAs(requests);
			for (RenewRequest request : requests) {
				assertThat(release(store, request.key(), request.token())).isEqualTo(new ReleaseResult.Released());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void h5LockIsHandedOverWhereverItsWaiterIsSubscribed(Driver driver) {
		RecordingListener listener = new RecordingListener();
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			Inbox inbox = store.inbox(instance(1), listener).orElseThrow();
			inbox.open();
			await().until(inbox::isConfirmed);
			for (String key : List.of("a", "b", "c", "d")) {
				OwnerToken holder = token();
				OwnerToken waiter = token(instance(1));
				acquire(store, key, holder);
				acquire(store, key, waiter, true, PATIENT);
				release(store, key, holder);
				await().until(() -> listener.grants.stream().anyMatch((grant) -> grant.token().equals(waiter)));
				assertThat(release(store, key, waiter)).isEqualTo(new ReleaseResult.Released());
			}
		}
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
		Duration timeout = Duration.ofSeconds(1);
		List<LockEvent.Lost> losses = new CopyOnWriteArrayList<>();
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), timeout);
				LockEngine engine = new LockEngine(store, SMALL_BATCHES, (event) -> {
					if (event instanceof LockEvent.Lost lost) {
						losses.add(lost);
					}
				})) {
			await().ignoreExceptions().until(() -> isAcquired(store, "warm-up " + driver, token()));
			await().until(() -> !store.shard("a").isEmpty());
			// those of the healthy shard are due while the other ones wait for an answer
			List<HeldLock> healthy = new ArrayList<>();
			List<HeldLock> stopped = new ArrayList<>();
			for (int i = 0; healthy.size() < 10 || stopped.size() < 10; i++) {
				String key = driver + " renewed " + i;
				boolean onFirst = !isOnSecond(key);
				LockRequest request = LockRequest.of(key).ttl(Duration.ofSeconds(onFirst ? 4 : 6));
				if ((onFirst ? healthy : stopped).size() < 10) {
					(onFirst ? healthy : stopped).add(engine.template().acquire(request));
				}
			}
			second.pause();
			await().atMost(Duration.ofSeconds(30)).until(() -> stopped.stream().noneMatch(HeldLock::isHeld));
			second.resume();
			assertThat(healthy).allMatch(HeldLock::isHeld);
			assertThat(losses).allMatch((lost) -> isOnSecond(lost.key()));
			healthy.forEach(HeldLock::close);
			assertThat(stopped)
				.allSatisfy((lock) -> assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close));
		}
		finally {
			second.resume();
		}
		cluster.awaitWhole();
	}

	@Test
	@Tag("cluster-several-slots")
	void f29LocksInDifferentSlotsAreTakenInOneOrderByAll() throws Exception {
		List<String> keys = List.of("a", "b", "c", "d", "{tag}e");
		assertThat(keys.stream().map((key) -> cluster.masterOf("lock:" + key)).distinct()).hasSize(3);
		List<String> reversed = new ArrayList<>(keys);
		Collections.reverse(reversed);
		int[] counter = new int[1];
		try (RedisLockStore one = StoreFixture.store(Driver.LETTUCE.clusterFactory(cluster), PATIENT);
				RedisLockStore two = StoreFixture.store(Driver.JEDIS.clusterFactory(cluster), PATIENT);
				LockEngine engineOne = new LockEngine(one, EngineSettings.defaults(), LockEvents.NOBODY);
				LockEngine engineTwo = new LockEngine(two, EngineSettings.defaults(), LockEvents.NOBODY)) {
			List<CompletableFuture<Void>> workers = new ArrayList<>();
			for (LockEngine engine : List.of(engineOne, engineTwo)) {
				List<String> wanted = (engine == engineOne) ? keys : reversed;
				LockRequest request = new LabelledRequest(LockRequest.of("?"), wanted, null)
					.waitTime(Duration.ofSeconds(30));
				workers.add(CompletableFuture.runAsync(() -> {
					for (int i = 0; i < 10; i++) {
						engine.template().executeWithoutResult(request, (lock) -> counter[0]++);
					}
				}));
			}
			for (CompletableFuture<Void> worker : workers) {
				worker.get(60, TimeUnit.SECONDS);
			}
		}
		assertThat(counter).containsExactly(20);
		assertThat(cluster.masters())
			.allSatisfy((master) -> assertThat(master.keys()).noneMatch((key) -> key.startsWith("lock:")));
	}

	/** As docs/topologies.md has it. */
	@ParameterizedTest
	@EnumSource
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
