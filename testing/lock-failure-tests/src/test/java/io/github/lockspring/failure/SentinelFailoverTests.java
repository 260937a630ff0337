package io.github.lockspring.failure;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The master behind three sentinels is replaced while instances lock, through either
 * driver, with and without acknowledgements of replicas: all of them go on by themselves.
 */
class SentinelFailoverTests {

	/**
	 * Much longer than it takes, since the machine may be busy with other things.
	 */
	private static final Duration PATIENCE = Duration.ofSeconds(40);

	private static final Duration TTL = Duration.ofSeconds(4);

	private static final SentinelGroup group = SentinelGroup.shared();

	private static final Map<String, Instance> instances = new TreeMap<>();

	@BeforeAll
	static void start() {
		group.awaitHealthy();
		for (Driver driver : Driver.values()) {
			for (int acks = 0; acks < 2; acks++) {
				instances.put(driver + "-" + acks, Instance.on(driver, Driver.sentinels(group), acks));
			}
		}
	}

	@AfterAll
	static void stop() {
		instances.values().forEach(Instance::close);
		instances.clear();
	}

	@Test
	@Tag("promotion-kept")
	void f11LocksWorkAgainAfterAFailoverAndHoldersAreToldTheTruth() {
		Map<String, HeldLock> held = new TreeMap<>();
		instances.forEach((name, instance) -> held.put(name,
				instance.locks().acquire(LockRequest.of(held(name)).ttl(TTL).waitTime(PATIENCE))));
		RedisServer former = group.master();
		awaitInboxes(former);
		// wakes up as a master that nobody knows any more
		former.pause();
		RedisServer master = group.awaitFailoverFrom(former);
		for (String name : instances.keySet()) {
			await(name).atMost(PATIENCE).until(() -> isLockedAt(master, name));
		}
		awaitInboxes(master);
		held.forEach((name, lock) -> {
			long deadline = deadline(lock);
			await(name).atMost(PATIENCE).until(() -> !lock.isHeld() || deadline(lock) > deadline + TTL.toNanos() / 10);
			if (lock.isHeld()) {
				assertThat(master.exists("lock:" + held(name))).as(name).isTrue();
				lock.close();
			}
			else {
				assertThat(instances.get(name).events(LockEvent.Lost.class)).as(name).isNotEmpty();
				assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
			}
		});
		former.resume();
		group.awaitHealthy();
	}

	/**
	 * Without acknowledgements, the worst case: the master dies with a lock that neither
	 * replica has heard of.
	 */
	@Test
	@Tag("promotion-fencing")
	@Tag("promotion-fixed")
	@Tag("promotion-guard")
	@Tag("promotion-remote")
	@Tag("promotion-renewed")
	void f11LockThatThePromotedReplicaHasNotIsLostHoweverItIsUsed() {
		GuardedDatabase database = new GuardedDatabase();
		Instance mine = instances.get(Driver.LETTUCE + "-0");
		Instance other = instances.get(Driver.JEDIS + "-0");
		LockRequest fixed = LockRequest.of("fixed").ttl(Duration.ofMinutes(5)).renew(false).waitTime(PATIENCE);
		RedisServer former = group.master();
		List<RedisServer> replicas = group.servers().stream().filter((each) -> each != former).toList();
		replicas.forEach(RedisServer::pause);
		// what was sent to them they would read when they wake
		former.command("CLIENT", "KILL", "TYPE", "replica");
		HeldLock lock = mine.locks().acquire(fixed);
		HeldLock renewed = mine.locks().acquire(LockRequest.of("renewed").ttl(TTL));
		former.kill();
		replicas.forEach(RedisServer::resume);
		RedisServer master = group.awaitFailoverFrom(former);
		await().atMost(PATIENCE).until(() -> isLockedAt(master, Driver.JEDIS + "-0"));
		HeldLock second = other.locks().acquire(fixed);
		assertThat(lock.isHeld() && second.isHeld()).as("two holders").isTrue();
		assertThat(second.fencingToken()).isGreaterThan(lock.fencingToken());
		database.commit(Verification.LOCAL, lock);
		await().atMost(PATIENCE).until(() -> isLockedAt(master, Driver.LETTUCE + "-0"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> database.commit(Verification.REMOTE, lock));
		database.fence(second);
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> database.fence(lock));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		await("the next renewal").atMost(PATIENCE).until(() -> !renewed.isHeld());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> database.commit(Verification.LOCAL, renewed));
		second.close();
		group.restart(former);
		group.awaitHealthy();
	}

	private static long deadline(HeldLock lock) {
		return System.nanoTime() + lock.remaining().toNanos();
	}

	private static String held(String name) {
		return "held by " + name;
	}

	/** Each instance waits for a lock for a moment, as often as it takes. */
	private static void awaitInboxes(RedisServer master) {
		await("inboxes").atMost(PATIENCE).ignoreExceptions().until(() -> {
			instances.forEach((name, instance) -> instances.keySet()
				.stream()
				.filter((other) -> !other.equals(name))
				.findFirst()
				.flatMap((other) -> instance.locks()
					.tryAcquire(LockRequest.of(held(other)).waitTime(Duration.ofMillis(20))))
				.ifPresent(HeldLock::close));
			List<?> inboxes = (List<?>) Objects.requireNonNull(master.command("PUBSUB", "CHANNELS", "lock:inbox:*"));
			return inboxes.size() == instances.size();
		});
	}

	private static boolean isLockedAt(RedisServer server, String name) {
		try {
			LockRequest request = LockRequest.of("any " + name).waitTime(Duration.ZERO);
			return instances.get(name).locks().execute(request, (lock) -> server.exists("lock:" + lock.keys().get(0)));
		}
		catch (LockException ex) {
			return false;
		}
	}

}
