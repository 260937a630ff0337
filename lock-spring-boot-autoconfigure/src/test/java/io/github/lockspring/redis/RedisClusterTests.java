package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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
import io.github.lockspring.testsupport.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

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
 * Two nodes, half of the slots each.
 */
class RedisClusterTests {

	private static RedisServer first;

	private static RedisServer second;

	@BeforeAll
	static void start() {
		first = RedisServer.start("--cluster-enabled", "yes", "--cluster-node-timeout", "10000");
		second = RedisServer.start("--cluster-enabled", "yes", "--cluster-node-timeout", "10000");
		first.command("CLUSTER", "ADDSLOTSRANGE", "0", "8191");
		second.command("CLUSTER", "ADDSLOTSRANGE", "8192", "16383");
		first.command("CLUSTER", "MEET", second.host(), String.valueOf(second.port()));
		awaitCluster();
	}

	@AfterAll
	static void stop() {
		first.close();
		second.close();
	}

	@ParameterizedTest
	@EnumSource
	void locksOfAllSlotsAreTakenRenewedInOneCallAndReleased(Driver driver) {
		try (RedisLockStore store = RedisLockStore.create(factory(driver), SETTINGS)) {
			List<RenewQuestion> questions = new ArrayList<>();
			for (String key : List.of("a", "b", "c", "d", "{tag}x", "{tag}y", "brace}", "{brace", "é")) {
				OwnerToken token = token();
				assertThat(acquire(store, key, token)).as(key).isInstanceOf(Acquired.class);
				questions.add(new RenewQuestion(key, token, TTL));
			}
			assertThat(first.keys()).isNotEmpty();
			assertThat(second.keys()).isNotEmpty();
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
		try (RedisLockStore store = RedisLockStore.create(factory(driver), SETTINGS)) {
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
		try (RedisLockStore store = RedisLockStore.create(factory(driver), settings)) {
			List<RenewQuestion> questions = new ArrayList<>();
			for (int i = 0; i < 24; i++) {
				OwnerToken token = token();
				String key = driver + " " + i;
				await().ignoreExceptions().until(() -> acquire(store, key, token) instanceof Acquired);
				questions.add(new RenewQuestion(key, token, TTL));
			}
			second.pause();
			List<RenewAnswer> answers = store.renew(questions, Duration.ofMillis(700));
			for (int i = 0; i < questions.size(); i++) {
				boolean alive = RedisKeys.slot("lock:" + questions.get(i).key()) < 8192;
				assertThat(answers.get(i)).as(questions.get(i).key())
					.isEqualTo(alive ? RenewAnswer.RENEWED : RenewAnswer.UNKNOWN);
			}
		}
		finally {
			second.resume();
		}
		awaitCluster();
	}

	@ParameterizedTest
	@EnumSource
	void f07StoppedShardLosesNoRenewedLockOfAHealthyOne(Driver driver) {
		RedisStoreSettings settings = new RedisStoreSettings("lock:", Duration.ofSeconds(1), true);
		List<LockEvent.Lost> losses = new CopyOnWriteArrayList<>();
		try (RedisLockStore store = RedisLockStore.create(factory(driver), settings);
				LockEngine engine = new LockEngine(store, EngineSettings.defaults(), List.of((event) -> {
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
				boolean onFirst = RedisKeys.slot("lock:" + key) < 8192;
				LockRequest request = LockRequest.of(key)
					.ttl(Duration.ofMillis(onFirst ? 900 : 3000))
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
			assertThat(losses).noneMatch((lost) -> RedisKeys.slot("lock:" + lost.key()) < 8192);
			healthy.forEach(HeldLock::close);
			stopped.forEach(HeldLock::close);
		}
		finally {
			second.resume();
		}
		awaitCluster();
	}

	private static void awaitCluster() {
		for (RedisServer node : List.of(first, second)) {
			await().atMost(Duration.ofSeconds(30))
				.until(() -> ((String) Objects.requireNonNull(node.command("CLUSTER", "INFO")))
					.contains("cluster_state:ok"));
		}
	}

	private static RedisConnectionFactory factory(Driver driver) {
		RedisClusterConfiguration configuration = new RedisClusterConfiguration(
				List.of(first.host() + ":" + first.port()));
		return (driver == Driver.LETTUCE) ? new LettuceConnectionFactory(configuration)
				: new JedisConnectionFactory(configuration);
	}

}
