package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnLost;
import io.github.lockspring.engine.EngineSettings;
import io.github.lockspring.engine.LockEngine;
import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.RecordingListener;
import io.github.lockspring.store.ReleaseAnswer;
import io.github.lockspring.store.RenewAnswer;
import io.github.lockspring.store.RenewQuestion;
import io.github.lockspring.testsupport.RedisCluster;
import io.github.lockspring.testsupport.RedisServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.SETTINGS;
import static io.github.lockspring.redis.StoreFixture.TTL;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
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
			Duration.ofSeconds(5), null, Duration.ofSeconds(1), 1.0 / 3, 2, Duration.ofMillis(10),
			Duration.ofSeconds(1));

	@BeforeEach
	void flush() {
		cluster.flushAll();
	}

	@ParameterizedTest
	@EnumSource
	void locksOfAllSlotsAreTakenRenewedInOneCallAndReleased(Driver driver) {
		try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), SETTINGS)) {
			List<RenewQuestion> questions = new ArrayList<>();
			for (String key : List.of("a", "b", "c", "d", "{tag}x", "{tag}y", "brace}", "{brace", "é")) {
				OwnerToken token = token();
				assertThat(acquire(store, key, token)).as(key).isInstanceOf(Acquired.class);
				questions.add(new RenewQuestion(key, token, TTL));
			}
			assertThat(cluster.masters()).noneMatch((master) -> master.keys().isEmpty());
			questions.add(3, new RenewQuestion("nobody's", token(), TTL));
			List<RenewAnswer> answers = store.renew(questions, PATIENT);
			assertThat(answers.get(3)).isEqualTo(RenewAnswer.NOT_OWNER);
			questions.remove(3);
			assertThat(answers).filteredOn(RenewAnswer.RENEWED::equals).hasSameSizeAs(questions);
			for (RenewQuestion question : questions) {
				assertThat(release(store, question.key(), question.token())).isEqualTo(new ReleaseAnswer.Released());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void h5LockIsHandedOverWhereverItsWaiterIsSubscribed(Driver driver) {
		RecordingListener listener = new RecordingListener();
		try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), SETTINGS)) {
			Inbox inbox = store.inbox(instance(1), listener).orElseThrow();
			inbox.open();
			await().until(inbox::isConfirmed);
			for (String key : List.of("a", "b", "c", "d")) {
				OwnerToken holder = token();
				OwnerToken waiter = token(instance(1));
				acquire(store, key, holder);
				acquire(store, key, waiter, Look.FIRST, PATIENT);
				release(store, key, holder);
				await().until(() -> listener.grants.stream().anyMatch((grant) -> grant.token().equals(waiter)));
				assertThat(release(store, key, waiter)).isEqualTo(new ReleaseAnswer.Released());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void deadShardDoesNotStarveTheRenewalsOfTheOther(Driver driver) {
		RedisStoreSettings settings = new RedisStoreSettings("lock:", Duration.ofSeconds(1), true);
		try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), settings)) {
			await().ignoreExceptions().until(() -> isAcquired(store, "warm-up " + driver, token()));
			List<RenewQuestion> questions = new ArrayList<>();
			for (int i = 0; i < 24; i++) {
				OwnerToken token = token();
				String key = driver + " " + i;
				assertThat(acquire(store, key, token)).isInstanceOf(Acquired.class);
				questions.add(new RenewQuestion(key, token, TTL));
			}
			second.pause();
			List<RenewAnswer> answers = store.renew(questions, Duration.ofMillis(700));
			for (int i = 0; i < questions.size(); i++) {
				boolean alive = !isOnSecond(questions.get(i).key());
				assertThat(answers.get(i)).as(questions.get(i).key())
					.isEqualTo(alive ? RenewAnswer.RENEWED : RenewAnswer.UNKNOWN);
			}
		}
		finally {
			second.resume();
		}
		cluster.awaitWhole();
	}

	@ParameterizedTest
	@EnumSource
	void f07StoppedShardLosesNoRenewedLockOfAHealthyOne(Driver driver) {
		RedisStoreSettings settings = new RedisStoreSettings("lock:", Duration.ofSeconds(1), true);
		List<LockEvent.Lost> losses = new CopyOnWriteArrayList<>();
		try (RedisLockStore store = RedisLockStore.create(driver.clusterFactory(cluster), settings);
				LockEngine engine = new LockEngine(store, SMALL_BATCHES, List.of((event) -> {
					if (event instanceof LockEvent.Lost lost) {
						losses.add(lost);
					}
				}))) {
			await().ignoreExceptions().until(() -> isAcquired(store, "warm-up " + driver, token()));
			await().until(() -> !store.lane("a").isEmpty());
			// those of the healthy shard are due while the other ones wait for an answer
			List<HeldLock> healthy = new ArrayList<>();
			List<HeldLock> stopped = new ArrayList<>();
			for (int i = 0; healthy.size() < 10 || stopped.size() < 10; i++) {
				String key = driver + " renewed " + i;
				boolean onFirst = !isOnSecond(key);
				LockRequest request = LockRequest.of(key)
					.ttl(Duration.ofMillis(onFirst ? 900 : 2000))
					.renew()
					.onLost(OnLost.NOTIFY);
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
			stopped.forEach(HeldLock::close);
		}
		finally {
			second.resume();
		}
		cluster.awaitWhole();
	}

	private static boolean isOnSecond(String key) {
		return cluster.masterOf(RedisKeys.slot("lock:" + key)) == second;
	}

}
