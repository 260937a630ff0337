package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisCluster.SlotMove;
import io.github.lockspring.testsupport.redis.RedisCluster;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.RecordingListener;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisClusterConfiguration;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.TTL;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A slot goes from one master to another, and back.
 */
@ParameterizedClass
@EnumSource
class RedisClusterMigrationTests {

	private static final int ROUNDS = 4 * Integer.getInteger("lockspring.topology.rounds", 1);

	private static final RedisCluster cluster = RedisCluster.shared();

	private static final int SLOT = RedisKeys.slot("lock:{moved}");

	private static final RedisServer home = cluster.masterOf(SLOT);

	private static final RedisServer away = cluster.masters().get((cluster.masters().indexOf(home) + 1) % 3);

	@Parameter
	Driver driver;

	private RedisServer present = home;

	private RedisLockStore store;

	@BeforeEach
	void open() {
		cluster.flushAll();
		this.store = StoreFixture.store(this.driver.clusterFactory(cluster), PATIENT);
	}

	@AfterEach
	void moveHome() {
		this.store.close();
		if (this.present == away) {
			move(() -> {
			});
		}
	}

	/** Moves the slot to the other one of the two. */
	private void move(Runnable meanwhile) {
		SlotMove move = begin();
		meanwhile.run();
		end(move);
	}

	private SlotMove begin() {
		return cluster.move(SLOT, this.present, other());
	}

	private void end(SlotMove move) {
		move.keys().end();
		this.present = other();
	}

	private RedisServer other() {
		return (this.present == home) ? away : home;
	}

	@Test
	void h20LocksOfOneSlotAreRenewedAlsoWhenSomeOfThemHaveMovedAlready() {
		List<RenewRequest> requests = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			OwnerToken token = token();
			acquire("{moved}" + i, token);
			requests.add(new RenewRequest("{moved}" + i, token, TTL));
		}
		SlotMove move = begin();
		move.key("lock:{moved}1").key("lock:{moved}4");
		assertThat(again(() -> new JoinedStore(this.store).renew(requests, PATIENT))).hasSize(6)
			.containsOnly(RenewResult.RENEWED);
		end(move);
		assertThat(again(() -> new JoinedStore(this.store).renew(requests, PATIENT))).hasSize(6)
			.containsOnly(RenewResult.RENEWED);
		requests.forEach((request) -> assertThat(release(request.key(), request.token()))
			.isEqualTo(new ReleaseResult.Released()));
	}

	@Test
	@Tag("cluster-migration")
	void lockIsAcquiredAndReleasedAsSoonAsItsSlotHasMoved() throws Exception {
		OwnerToken token = token();
		OwnerToken waiter = token();
		SlotMove first = begin();
		CompletableFuture<Object> acquired = CompletableFuture.supplyAsync(() -> acquire("{moved}", token));
		CompletableFuture<Object> other = CompletableFuture.supplyAsync(() -> acquire("{moved}2", waiter));
		await().until(() -> calls(home) + calls(away) > 3);
		assertThat(acquired).isNotDone();
		end(first);
		assertThat(acquired.join()).isInstanceOf(Acquired.class);
		assertThat(other.join()).isInstanceOf(Acquired.class);
		SlotMove second = begin();
		second.key("lock:{moved}");
		CompletableFuture<Object> released = CompletableFuture.supplyAsync(() -> release("{moved}", token));
		end(second);
		assertThat(released.join()).isEqualTo(new ReleaseResult.Released());
		assertThat(home.exists("lock:{moved}")).isFalse();
		release("{moved}2", waiter);
	}

	/**
	 * The queue ends with him, and a key that is gone is refused while its slot migrates.
	 */
	@Test
	@Tag("cluster-hand-over-in-migration")
	void lockIsHandedOverToItsLastWaiterWhileItsSlotMigrates() {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = this.store.inbox(instance(1), listener).orElseThrow();
		inbox.open();
		await().until(inbox::isConfirmed);
		OwnerToken token = token();
		OwnerToken waiter = token(instance(1));
		acquire("{moved}", token);
		acquire("{moved}", waiter, true);
		move(() -> {
			assertThat(release("{moved}", token)).isEqualTo(new ReleaseResult.Released());
			assertThat(this.present.get("lock:{moved}")).isEqualTo(waiter.toString());
			await().until(() -> listener.grants.size() == 1);
		});
		assertThat(release("{moved}", waiter)).isEqualTo(new ReleaseResult.Released());
	}

	@Test
	void lockIsFreedWhileItsSlotMigratesThoughItsOwnerStandsInTheQueue() {
		for (long lastFencingToken : new long[] { 0, 1 }) {
			OwnerToken token = token();
			acquire("{moved}", token);
			this.present.command("ZADD", new RedisKeys("lock:").all("{moved}").get(2), "1", token.toString());
			ReleaseRequest request = new ReleaseRequest("{moved}", token, lastFencingToken, Duration.ZERO);
			move(() -> assertThat(again(() -> new JoinedStore(this.store).release(request, PATIENT)))
				.isEqualTo(new ReleaseResult.Released()));
			assertThat(this.present.exists("lock:{moved}")).isFalse();
		}
	}

	private static long calls(RedisServer node) {
		return node.calls("evalsha") + node.calls("eval");
	}

	@Test
	@Tag("cluster-migration")
	void slotThatDoesNotArriveIsUnavailableWithinTheTimeoutAndSaysWhy() {
		acquire("warm-up", token());
		move(() -> {
			long start = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> StoreFixture.acquire(this.store, "{moved}", token(), false, Duration.ofSeconds(2)))
				.withMessageContaining("TRYAGAIN");
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENT);
		});
	}

	@Test
	@Timeout(value = 1, unit = TimeUnit.HOURS)
	@Tag("cluster-migration-under-load")
	void noReleaseIsLostAndNoLockIsStuckWhileASlotMovesBackAndForthUnderLoad() throws Exception {
		int[] counters = new int[3];
		AtomicIntegerArray expected = new AtomicIntegerArray(3);
		AtomicBoolean stop = new AtomicBoolean();
		ExecutorService threads = Executors.newCachedThreadPool();
		RedisClusterConfiguration where = new RedisClusterConfiguration(cluster.addresses());
		try (Instance one = Instance.on(this.driver, where, 0); Instance two = Instance.on(this.driver, where, 0)) {
			List<Future<?>> workers = new ArrayList<>();
			for (Instance instance : List.of(one, two, one, two, one, two)) {
				workers.add(threads.submit(() -> raise(instance, counters, expected, stop)));
			}
			for (int round = 0; round < ROUNDS; round++) {
				int before = IntStream.of(counters).sum();
				move(() -> {
				});
				await().atMost(Duration.ofSeconds(30)).until(() -> IntStream.of(counters).sum() > before + 20);
			}
			stop.set(true);
			for (Future<?> worker : workers) {
				worker.get(60, TimeUnit.SECONDS);
			}
			assertThat(counters).isEqualTo(IntStream.range(0, 3).map(expected::get).toArray());
			assertThat(one.events(LockEvent.Lost.class)).isEmpty();
			assertThat(two.events(LockEvent.Lost.class)).isEmpty();
			// the longest lease is 30 s: what has not been given back would still be
			// there
			await().atMost(Duration.ofSeconds(20))
				.until(() -> cluster.masters()
					.stream()
					.flatMap((master) -> master.keys().stream())
					.noneMatch((key) -> key.startsWith("lock:")));
		}
		finally {
			stop.set(true);
			threads.shutdown();
		}
	}

	/** Three locks in the slot, by turns, until told to stop. */
	private static void raise(Instance instance, int[] counters, AtomicIntegerArray expected, AtomicBoolean stop) {
		for (int i = 0; !stop.get(); i = (i + 1) % counters.length) {
			int number = i;
			LockRequest request = LockRequest.of("{moved}" + number).waitTime(Duration.ofSeconds(30));
			instance.locks().executeWithoutResult(request, (lock) -> {
				counters[number]++;
				expected.incrementAndGet(number);
			});
		}
	}

	/**
	 * A redirection that leads to another one fails a request, and instances repeat it.
	 */
	private static <T> T again(Callable<T> request) {
		return await().ignoreException(LockUnavailableException.class).until(request, Objects::nonNull);
	}

	private ReleaseResult release(String key, OwnerToken token) {
		return again(() -> StoreFixture.release(this.store, key, token));
	}

	private AcquireResult acquire(String key, OwnerToken token) {
		return acquire(key, token, false);
	}

	private AcquireResult acquire(String key, OwnerToken token, boolean queue) {
		return again(() -> StoreFixture.acquire(this.store, key, token, queue, PATIENT));
	}

}
