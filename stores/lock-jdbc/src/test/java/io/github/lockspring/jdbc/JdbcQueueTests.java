package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The queue of waiters in a table, on each database: hand-overs while others come and go,
 * and how waiting instances learn of them.
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.TestDatabases#eachAndSerializable")
class JdbcQueueTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofMinutes(2);

	/** A little longer than a place in the queue lasts. */
	private static final Duration WAIT = Duration.ofMillis(LockQueue.PLACE_MICROS / 1000 + 1000);

	/**
	 * With two ahead, slower requests may take longer than a place in the queue lasts.
	 */
	private static final Duration SLOW = Duration.ofMillis(500);

	private static final LockRequest REQUEST = LockRequest.of("order 1")
		.ttl(LONG)
		.renew(false)
		.waitTime(Duration.ofMinutes(1));

	private static final AtomicLong SEQUENCE = new AtomicLong();

	private static final String INSTANCE = "jdbc-queue-tests-%05d";

	private final Database database;

	private final JdbcTemplate jdbc;

	private final List<JdbcInstance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final AtomicLong slowest = new AtomicLong();

	JdbcQueueTests(Database database) {
		this.database = database;
		this.jdbc = new JdbcTemplate(database.dataSource());
	}

	@BeforeEach
	void empty() {
		this.jdbc.update("DELETE FROM lock_lease");
		this.jdbc.update("DELETE FROM lock_lease_waiter");
	}

	@AfterEach
	void stop() {
		this.threads.shutdown();
		this.instances.forEach(JdbcInstance::close);
	}

	private JdbcInstance instance() {
		JdbcInstance instance = JdbcInstance.on(this.database);
		// tests that call a store themselves try once
		instance.pool().setConnectionTimeout(TIMEOUT.toMillis());
		this.instances.add(instance);
		return instance;
	}

	private int waiters() {
		return this.jdbc.queryForObject("SELECT COUNT(*) FROM lock_lease_waiter", Integer.class);
	}

	/**
	 * Each waiter makes one attempt only: it gets the lock if, and only if, no release
	 * overlooks it. Some give up, and must not be given the lock afterwards.
	 */
	@Test
	@Tag("jdbc-queue")
	void noWaiterIsOverlookedAndNoneIsGivenTheLockThatHasLeft() throws Exception {
		AtomicInteger inside = new AtomicInteger();
		AtomicLong lastFencingToken = new AtomicLong();
		CountDownLatch start = new CountDownLatch(1);
		CompletionService<Void> all = new ExecutorCompletionService<>(this.threads);
		for (int i = 0; i < 3; i++) {
			LockStore store = instance().store();
			String name = INSTANCE.formatted(i);
			Callable<Void> owner = () -> {
				start.await();
				for (int round = 0; round < 60; round++) {
					OwnerToken token = new OwnerToken(name, SEQUENCE.incrementAndGet(), 9999);
					boolean leaves = ThreadLocalRandom.current().nextInt(4) == 0;
					if (isAcquired(store, token, leaves)) {
						assertThat(inside.incrementAndGet()).isEqualTo(1);
						long fencingToken = timed(
								() -> this.jdbc.queryForObject("SELECT fencing_token FROM lock_lease", Long.class));
						assertThat(lastFencingToken.getAndSet(fencingToken)).isLessThan(fencingToken);
						inside.decrementAndGet();
					}
					timed(() -> new JoinedStore(store).release(new ReleaseRequest("order 1", token), TIMEOUT));
				}
				return null;
			};
			all.submit(owner);
		}
		start.countDown();
		for (int i = 0; i < 3; i++) {
			// the first one that fails: the others then wait in vain for what it holds
			Objects.requireNonNull(all.poll(2, TimeUnit.MINUTES), "a result").get();
		}
		assertThat(this.jdbc.queryForObject("SELECT owner FROM lock_lease", String.class)).isEqualTo("-");
		assertThat(waiters()).isZero();
	}

	private boolean isAcquired(LockStore store, OwnerToken token, boolean leaves) throws InterruptedException {
		AcquireResult result = timed(
				() -> new JoinedStore(store).acquire(new AcquireRequest("order 1", token, LONG, true), TIMEOUT));
		if (leaves || result instanceof Acquired) {
			return result instanceof Acquired;
		}
		return isGranted(store, token) || isAcquired(store, token, false);
	}

	/**
	 * Waits for the lock.
	 * @return false if requests are so slow that the place in the queue may be over
	 */
	private boolean isGranted(LockStore store, OwnerToken token) throws InterruptedException {
		for (long begin = System.nanoTime(); System.nanoTime() - begin < WAIT.toNanos();) {
			List<RenewResult> renewed = timed(
					() -> new JoinedStore(store).renew(List.of(new RenewRequest("order 1", token, LONG)), TIMEOUT));
			if (renewed.equals(List.of(RenewResult.RENEWED))) {
				return true;
			}
			TimeUnit.MILLISECONDS.sleep(5);
		}
		assertThat(Duration.ofNanos(this.slowest.get())).as("was not overlooked, but requests are slow")
			.isGreaterThan(SLOW);
		return false;
	}

	/** Notes how long the slowest request of all has taken. */
	private <T> T timed(Supplier<T> request) {
		long begin = System.nanoTime();
		T result = request.get();
		this.slowest.accumulateAndGet(System.nanoTime() - begin, Math::max);
		return result;
	}

	@Test
	@Tag("dead-waiter")
	@Tag("jdbc-dying-instances")
	@Tag("jdbc-queue")
	void f24WaiterThatHasNotBeenSeenForLongIsPassedOver() throws Exception {
		HeldLock held = instance().locks().acquire(REQUEST);
		LockStore store = instance().store();
		for (int i = 0; i < 3; i++) {
			OwnerToken dead = new OwnerToken(INSTANCE.formatted(i), 1, 5000);
			assertThat(new JoinedStore(store).acquire(new AcquireRequest("order 1", dead, LONG, true), TIMEOUT))
				.isInstanceOf(Busy.class);
		}
		this.jdbc.update("UPDATE lock_lease_waiter SET seen_at = seen_at - ?", LockQueue.PLACE_MICROS);
		JdbcInstance alive = instance();
		Future<HeldLock> waits = this.threads.submit(() -> alive.locks().acquire(REQUEST));
		await().until(() -> waiters() == 4);
		held.close();
		HeldLock next = waits.get(1, TimeUnit.MINUTES);
		await().untilAsserted(() -> assertThat(waiters()).as("removed by the hand-over").isZero());
		next.close();
	}

	/** The row of the lock may be deleted after a waiter was paused for long. */
	@Test
	void waiterThatFindsTheRowOfTheLockDeletedLeavesNoRowOfItsOwn() {
		JoinedStore store = new JoinedStore(instance().store());
		store.acquire(request(1, false), TIMEOUT);
		AcquireRequest waiter = request(2, true);
		assertThat(store.acquire(waiter, TIMEOUT)).isInstanceOf(Busy.class);
		this.jdbc.update("DELETE FROM lock_lease");
		assertThat(store.acquire(waiter, TIMEOUT)).isInstanceOf(Acquired.class);
		assertThat(waiters()).isZero();
	}

	@Test // defect 36
	@Tag("jdbc-waiter-rows")
	void attemptOfAWaiterChangesItsOwnRowOnly() {
		JoinedStore store = new JoinedStore(instance().store());
		store.acquire(request(1, false), TIMEOUT);
		AcquireRequest waiter = request(2, true);
		store.acquire(waiter, TIMEOUT);
		Map<String, Object> before = rowOfTheLock();
		long seen = seenAt();
		for (int i = 0; i < 10; i++) {
			assertThat(store.acquire(waiter, TIMEOUT)).isInstanceOf(Busy.class);
		}
		assertThat(rowOfTheLock()).isEqualTo(before);
		assertThat(seenAt()).isGreaterThan(seen);
	}

	/** On PostgreSQL also the number of the transaction that has written the version. */
	private Map<String, Object> rowOfTheLock() {
		boolean postgres = this.database.platform().equals("postgresql");
		return this.jdbc.queryForMap("SELECT * " + (postgres ? ", CAST(xmin AS TEXT)" : "") + " FROM lock_lease");
	}

	private long seenAt() {
		return this.jdbc.queryForObject("SELECT seen_at FROM lock_lease_waiter", Long.class);
	}

	/**
	 * The hand-over has read the clock and waits for the row. Also if the clock is behind
	 * the tokens.
	 */
	@ParameterizedTest
	@ValueSource(longs = { 0, 3_600_000_000L })
	void leaseOfAHandOverThatWasDecidedBeforeAnAttemptIsNotUsedAfterIt(long ahead) throws Exception {
		assumeThat(this.database.platform()).as("a locked row keeps no other statement waiting")
			.isEqualTo("postgresql");
		JoinedStore store = new JoinedStore(instance().store());
		AcquireRequest owner = request(1, false);
		store.acquire(owner, TIMEOUT);
		this.jdbc.update("UPDATE lock_lease SET fencing_token = fencing_token + ?", ahead);
		AcquireRequest waiter = request(2, true);
		store.acquire(waiter, TIMEOUT);
		long last;
		Future<?> release;
		try (Connection other = this.database.dataSource().getConnection()) {
			other.setAutoCommit(false);
			other.createStatement().execute("SELECT 1 FROM lock_lease FOR UPDATE");
			release = this.threads.submit(() -> store.release(new ReleaseRequest("order 1", owner.token()), TIMEOUT));
			await().until(() -> this.jdbc.queryForObject(
					"SELECT COUNT(*) FROM pg_locks WHERE NOT granted AND locktype IN ('tuple', 'transactionid')",
					Integer.class) == 1);
			last = ((Busy) store.acquire(waiter, TIMEOUT)).lastFencingToken();
			other.rollback();
		}
		release.get(1, TimeUnit.MINUTES);
		Map<String, Object> row = rowOfTheLock();
		assertThat(row).containsEntry("owner", waiter.token().toString());
		assertThat((Long) row.get("fencing_token")).isLessThanOrEqualTo(last);
	}

	private static AcquireRequest request(int instance, boolean queue) {
		return new AcquireRequest("order 1", new OwnerToken(INSTANCE.formatted(instance), 1, 5000), LONG, queue);
	}

	/** Whatever the number of waiting threads and keys is. */
	@Test
	void oneQueryPollsForAllKeysOfAnInstance() throws Exception {
		assumeThat(this.database.platform()).as("cannot notify").isNotEqualTo("postgresql");
		JdbcInstance holder = instance();
		RecordingDataSource recording = new RecordingDataSource(instance().pool());
		List<HeldLock> held = new ArrayList<>();
		for (int i = 0; i < 20; i++) {
			held.add(holder.locks().acquire(LockRequest.of("key " + i).ttl(LONG).renew(false)));
		}
		try (JdbcInstance waiting = JdbcInstance.on(this.database, recording)) {
			List<Future<?>> all = new ArrayList<>();
			for (int i = 0; i < 40; i++) {
				LockRequest request = LockRequest.of("key " + i % 20)
					.ttl(LONG)
					.renew(false)
					.waitTime(Duration.ofMinutes(1));
				all.add(this.threads.submit(() -> waiting.locks().acquire(request).close()));
			}
			await().until(() -> waiters() == 20);
			await().until(() -> queries(recording) > 0);
			long begin = System.nanoTime();
			recording.statements().clear();
			await().until(() -> queries(recording) >= 8);
			long queries = queries(recording);
			long millis = (System.nanoTime() - begin) / 1_000_000;
			// 25 ms at least between two of them
			assertThat(queries).as("in %d ms", millis).isLessThanOrEqualTo(1 + millis / 25);
			held.forEach(HeldLock::close);
			for (Future<?> each : all) {
				each.get(1, TimeUnit.MINUTES);
			}
		}
	}

	private static long queries(RecordingDataSource recording) {
		return recording.statements().stream().filter((sql) -> sql.contains(" IN (")).count();
	}

}
