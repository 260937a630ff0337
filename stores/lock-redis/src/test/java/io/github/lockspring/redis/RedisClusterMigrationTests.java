package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
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
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
class RedisClusterMigrationTests {

	private static final int ROUNDS = 4 * Integer.getInteger("lockspring.topology.rounds", 1);

	private static final RedisCluster cluster = RedisCluster.shared();

	private static final int SLOT = RedisKeys.slot("lock:{moved}");

	private static final RedisServer home = cluster.masterOf(SLOT);

	private static final RedisServer away = cluster.masters().get((cluster.masters().indexOf(home) + 1) % 3);

	private RedisServer present = home;

	@BeforeEach
	void flush() {
		cluster.flushAll();
	}

	@AfterEach
	void moveHome() {
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

	@ParameterizedTest
	@EnumSource
	void h20LockIsRenewedAtEachStepOfItsSlotsMigration(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			OwnerToken token = token();
			acquire(store, "{moved}", token);
			SlotMove move = begin();
			assertThat(renew(store, "{moved}", token)).containsExactly(RenewResult.RENEWED);
			move.key("lock:{moved}");
			assertThat(renew(store, "{moved}", token)).as("ASK").containsExactly(RenewResult.RENEWED);
			end(move);
			assertThat(renew(store, "{moved}", token)).as("MOVED").containsExactly(RenewResult.RENEWED);
			assertThat(release(store, "{moved}", token)).isEqualTo(new ReleaseResult.Released());
		}
	}

	@ParameterizedTest
	@EnumSource
	void h20LocksOfOneSlotAreRenewedAlsoWhenSomeOfThemHaveMovedAlready(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			List<RenewRequest> requests = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				OwnerToken token = token();
				acquire(store, "{moved}" + i, token);
				requests.add(new RenewRequest("{moved}" + i, token, TTL));
			}
			SlotMove move = begin();
			move.key("lock:{moved}1").key("lock:{moved}4");
			assertThat(again(() -> new JoinedStore(store).renew(requests, PATIENT))).hasSize(6)
				.containsOnly(RenewResult.RENEWED);
			end(move);
			assertThat(again(() -> new JoinedStore(store).renew(requests, PATIENT))).hasSize(6)
				.containsOnly(RenewResult.RENEWED);
			requests.forEach((request) -> assertThat(release(store, request.key(), request.token()))
				.isEqualTo(new ReleaseResult.Released()));
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("cluster-migration")
	void lockIsAcquiredAndReleasedAsSoonAsItsSlotHasMoved(Driver driver) throws Exception {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			OwnerToken token = token();
			OwnerToken waiter = token();
			SlotMove first = begin();
			CompletableFuture<Object> acquired = CompletableFuture.supplyAsync(() -> acquire(store, "{moved}", token));
			CompletableFuture<Object> other = CompletableFuture.supplyAsync(() -> acquire(store, "{moved}2", waiter));
			await().until(() -> calls(home) + calls(away) > 3);
			assertThat(acquired).isNotDone();
			end(first);
			assertThat(acquired.join()).isInstanceOf(Acquired.class);
			assertThat(other.join()).isInstanceOf(Acquired.class);
			SlotMove second = begin();
			second.key("lock:{moved}");
			CompletableFuture<Object> released = CompletableFuture.supplyAsync(() -> release(store, "{moved}", token));
			end(second);
			assertThat(released.join()).isEqualTo(new ReleaseResult.Released());
			assertThat(home.exists("lock:{moved}")).isFalse();
			release(store, "{moved}2", waiter);
		}
	}

	/**
	 * The queue ends with him, and a key that is gone is refused while its slot migrates.
	 */
	@ParameterizedTest
	@EnumSource
	@Tag("cluster-hand-over-in-migration")
	void lockIsHandedOverToItsLastWaiterWhileItsSlotMigrates(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			RecordingListener listener = new RecordingListener();
			Inbox inbox = store.inbox(instance(1), listener).orElseThrow();
			inbox.open();
			await().until(inbox::isConfirmed);
			OwnerToken token = token();
			OwnerToken waiter = token(instance(1));
			acquire(store, "{moved}", token);
			acquire(store, "{moved}", waiter, true, PATIENT);
			move(() -> {
				assertThat(release(store, "{moved}", token)).isEqualTo(new ReleaseResult.Released());
				assertThat(this.present.get("lock:{moved}")).isEqualTo(waiter.toString());
				await().until(() -> listener.grants.size() == 1);
			});
			assertThat(release(store, "{moved}", waiter)).isEqualTo(new ReleaseResult.Released());
		}
	}

	@ParameterizedTest
	@EnumSource
	void lockIsFreedWhileItsSlotMigratesThoughItsOwnerStandsInTheQueue(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			for (long lastFencingToken : new long[] { 0, 1 }) {
				OwnerToken token = token();
				acquire(store, "{moved}", token);
				this.present.command("ZADD", new RedisKeys("lock:").all("{moved}").get(2), "1", token.toString());
				ReleaseRequest request = new ReleaseRequest("{moved}", token, lastFencingToken, Duration.ZERO);
				move(() -> assertThat(again(() -> new JoinedStore(store).release(request, PATIENT)))
					.isEqualTo(new ReleaseResult.Released()));
				assertThat(this.present.exists("lock:{moved}")).isFalse();
			}
		}
	}

	private static long calls(RedisServer node) {
		return node.calls("evalsha") + node.calls("eval");
	}

	@ParameterizedTest
	@EnumSource
	@Tag("cluster-migration")
	void slotThatDoesNotArriveIsUnavailableWithinTheTimeoutAndSaysWhy(Driver driver) {
		try (RedisLockStore store = StoreFixture.store(driver.clusterFactory(cluster), PATIENT)) {
			acquire(store, "warm-up", token());
			move(() -> {
				long start = System.nanoTime();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> StoreFixture.acquire(store, "{moved}", token(), false, Duration.ofSeconds(2)))
					.withMessageContaining("TRYAGAIN");
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(PATIENT);
			});
		}
	}

	@ParameterizedTest
	@EnumSource
	@Timeout(value = 1, unit = TimeUnit.HOURS)
	@Tag("cluster-migration-under-load")
	void noReleaseIsLostAndNoLockIsStuckWhileASlotMovesBackAndForthUnderLoad(Driver driver) throws Exception {
		Duration timeout = Duration.ofSeconds(1);
		EngineSettings engineSettings = EngineSettings.defaults();
		List<LockEvent> losses = new CopyOnWriteArrayList<>();
		int[] counters = new int[3];
		int[] expected = new int[3];
		try (RedisLockStore one = StoreFixture.store(driver.clusterFactory(cluster), timeout);
				RedisLockStore two = StoreFixture.store(driver.clusterFactory(cluster), timeout);
				LockEngine engineOne = new LockEngine(one, engineSettings, (event) -> keep(event, losses));
				LockEngine engineTwo = new LockEngine(two, engineSettings, (event) -> keep(event, losses))) {
			List<CompletableFuture<int[]>> workers = new ArrayList<>();
			AtomicBoolean stop = new AtomicBoolean();
			for (LockEngine engine : List.of(engineOne, engineTwo)) {
				for (int i = 0; i < 3; i++) {
					CompletableFuture<int[]> worker = new CompletableFuture<>();
					workers.add(worker);
					Thread thread = new Thread(() -> {
						try {
							worker.complete(raise(engine, counters, stop));
						}
						catch (Throwable ex) {
							worker.completeExceptionally(ex);
						}
					});
					thread.setDaemon(true);
					thread.start();
				}
			}
			for (int round = 0; round < ROUNDS; round++) {
				int before = counters[0] + counters[1] + counters[2];
				move(() -> {
				});
				await().atMost(Duration.ofSeconds(30))
					.until(() -> counters[0] + counters[1] + counters[2] > before + 20);
			}
			stop.set(true);
			for (CompletableFuture<int[]> worker : workers) {
				int[] raised = worker.get(60, TimeUnit.SECONDS);
				for (int i = 0; i < raised.length; i++) {
					expected[i] += raised[i];
				}
			}
			assertThat(counters).isEqualTo(expected);
			assertThat(losses).isEmpty();
			// the longest lease is 30 s: what has not been given back would still be
			// there
			await().atMost(Duration.ofSeconds(20))
				.until(() -> cluster.masters()
					.stream()
					.flatMap((master) -> master.keys().stream())
					.noneMatch((key) -> key.startsWith("lock:")));
		}
	}

	private static void keep(LockEvent event, List<LockEvent> losses) {
		if (event instanceof LockEvent.Lost) {
			losses.add(event);
		}
	}

	/** Three locks in the slot, by turns, until told to stop. */
	private static int[] raise(LockEngine engine, int[] counters, AtomicBoolean stop) {
		int[] raised = new int[counters.length];
		for (int i = 0; !stop.get(); i = (i + 1) % raised.length) {
			int number = i;
			engine.template()
				.executeWithoutResult(LockRequest.of("{moved}" + number).waitTime(Duration.ofSeconds(30)), (lock) -> {
					counters[number]++;
					raised[number]++;
				});
		}
		return raised;
	}

	/**
	 * A redirection that leads to another one fails a request, and instances repeat it.
	 */
	private static <T> T again(Callable<T> request) {
		return await().ignoreException(LockUnavailableException.class).until(request, Objects::nonNull);
	}

	private static ReleaseResult release(RedisLockStore store, String key, OwnerToken token) {
		return again(() -> StoreFixture.release(store, key, token));
	}

	private static AcquireResult acquire(RedisLockStore store, String key, OwnerToken token) {
		return again(() -> StoreFixture.acquire(store, key, token));
	}

	private static AcquireResult acquire(RedisLockStore store, String key, OwnerToken token, boolean queue,
			Duration timeout) {
		return again(() -> StoreFixture.acquire(store, key, token, queue, timeout));
	}

	private static List<RenewResult> renew(RedisLockStore store, String key, OwnerToken token) {
		return again(() -> StoreFixture.renew(store, key, token));
	}

}
