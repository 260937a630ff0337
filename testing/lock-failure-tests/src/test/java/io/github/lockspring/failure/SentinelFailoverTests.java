package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.transaction.CommitGuard;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

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

	enum Fault {

		/** SIGKILL; comes back empty, as a replica. */
		MASTER_KILLED((group, master) -> master.kill(), SentinelGroup::restart),

		/** SIGSTOP; wakes up as a master that nobody knows any more. */
		MASTER_STOPPED((group, master) -> master.pause(), (group, former) -> former.resume()),

		/** SIGKILL for both; the sentinel is the one that clients ask first. */
		MASTER_AND_SENTINEL_KILLED((group, master) -> {
			group.sentinels().get(0).kill();
			master.kill();
		}, (group, former) -> {
			group.sentinels().get(0).restart();
			group.restart(former);
		}),

		/** SIGSTOP for both: connections to them are made and never answered. */
		MASTER_AND_SENTINEL_STOPPED((group, master) -> {
			group.sentinels().get(0).pause();
			master.pause();
		}, (group, former) -> {
			group.sentinels().get(0).resume();
			former.resume();
		}),

		/** SENTINEL FAILOVER. The former master runs all the time. */
		MASTER_REPLACED((group, master) -> group.failOver(), (group, former) -> {
		});

		private final BiConsumer<SentinelGroup, RedisServer> make;

		private final BiConsumer<SentinelGroup, RedisServer> end;

		Fault(BiConsumer<SentinelGroup, RedisServer> make, BiConsumer<SentinelGroup, RedisServer> end) {
			this.make = make;
			this.end = end;
		}

	}

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

	@ParameterizedTest
	@MethodSource("faults")
	@Tag("promotion-kept")
	void f11LocksWorkAgainAfterAFailoverAndHoldersAreToldTheTruth(Fault fault) throws Exception {
		Map<String, HeldLock> held = new TreeMap<>();
		instances.forEach((name, instance) -> held.put(name,
				instance.locks().acquire(LockRequest.of(held(name)).ttl(TTL).waitTime(PATIENCE))));
		RedisServer former = group.master();
		awaitInboxes(former);
		Map<String, Long> times = new ConcurrentSkipListMap<>();
		long start = System.nanoTime();
		fault.make.accept(group, former);
		RedisServer master = group.awaitFailoverFrom(former);
		times.put("failover", millisSince(start));
		// not in the common pool, which Lettuce needs too, and which may have one thread
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			List<Callable<Object>> waiting = new ArrayList<>();
			instances.keySet().forEach((name) -> waiting.add(() -> {
				await(name).atMost(PATIENCE).pollInterval(Duration.ofMillis(20)).until(() -> isLockedAt(master, name));
				return times.put(name, millisSince(start));
			}));
			for (Future<Object> done : threads.invokeAll(waiting)) {
				done.get();
			}
		}
		finally {
			threads.shutdownNow();
		}
		awaitInboxes(master);
		times.put("inboxes", millisSince(start));
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
		fault.end.accept(group, former);
		group.awaitHealthy();
		System.out.println(fault + ", milliseconds until locks could be taken again: " + times);
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
		DataSource database = Databases.h2().withFencingTokens().dataSource();
		FencingGuard fencingTokens = new JdbcFencingGuard(database);
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
		commit(database, Verification.LOCAL, lock, (status) -> {
		});
		await().atMost(PATIENCE).until(() -> isLockedAt(master, Driver.LETTUCE + "-0"));
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> commit(database, Verification.REMOTE, lock, (status) -> {
			}));
		commit(database, Verification.OFF, second, (status) -> fencingTokens.check(second));
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> commit(database, Verification.OFF, lock, (status) -> fencingTokens.check(lock)));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
		await("the next renewal").atMost(PATIENCE).until(() -> !renewed.isHeld());
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> commit(database, Verification.LOCAL, renewed, (status) -> {
			}));
		second.close();
		group.restart(former);
		group.awaitHealthy();
	}

	private static void commit(DataSource database, Verification verification, HeldLock lock,
			Consumer<TransactionStatus> work) {
		JdbcTransactionManager transactions = new JdbcTransactionManager(database);
		transactions.addListener(
				new CommitGuard(() -> new CommitGuard.Settings(verification, Duration.ofMillis(50)), (refused) -> {
				}));
		try (CallChain.Scope scope = CallChain.open(lock, ((KeyedLock) lock).locks())) {
			new TransactionTemplate(transactions).executeWithoutResult(work);
		}
	}

	/** One in the build, and all of them several times at length. */
	static Stream<Fault> faults() {
		int rounds = Integer.getInteger("lockspring.topology.rounds", 0);
		return (rounds == 0) ? Stream.of(Fault.MASTER_STOPPED)
				: Stream.generate(Fault::values).flatMap(Stream::of).limit(Math.max(Fault.values().length, rounds / 4));
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

	private static long millisSince(long start) {
		return Duration.ofNanos(System.nanoTime() - start).toMillis();
	}

}
