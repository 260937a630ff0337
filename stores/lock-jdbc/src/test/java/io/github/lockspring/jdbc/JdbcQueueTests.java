package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.store.Inbox;
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
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The queue of waiters in a table, on each database: hand-overs while others come and go,
 * and how waiting instances learn of them.
 */
class JdbcQueueTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofMinutes(2);

	/** A place in the queue lasts for five seconds. */
	private static final Duration MAX_PAUSE = Duration.ofSeconds(2);

	private static final LockRequest REQUEST = LockRequest.of("order 1")
		.ttl(LONG)
		.renew(false)
		.waitTime(Duration.ofMinutes(1));

	@Nested
	class OnH2 extends OnPolledDatabase {

		OnH2() {
			super(Databases.h2());
		}

	}

	@Nested
	class OnPostgres extends OnDatabase {

		OnPostgres() {
			super(Databases.postgres());
		}

		@Test
		void idleInstanceListensToNothing() {
			JdbcInstance instance = instance();
			instance.locks().acquire(REQUEST).close();
			assertThat(listeners()).as("no other caller has waited").isZero();
			HeldLock held = instance.locks().acquire(REQUEST);
			JdbcInstance other = instance();
			Future<HeldLock> waits = this.threads.submit(() -> other.locks().acquire(REQUEST));
			await().until(() -> waiters() == 1);
			await().until(() -> listeners() > 0);
			held.close();
			close(waits);
		}

		private long listeners() {
			return Objects.requireNonNull(this.jdbc.queryForObject(
					"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'",
					Long.class));
		}

	}

	/** Its users may choose this as the default; then statements are refused at times. */
	@Nested
	class OnSerializablePostgres extends OnDatabase {

		OnSerializablePostgres() {
			super(Databases.postgres().with("?options=-c%20default_transaction_isolation=serializable"));
		}

	}

	@Nested
	@EnabledIfSystemProperty(named = "lockspring.mariadb", matches = ".+")
	class OnMariaDb extends OnPolledDatabase {

		OnMariaDb() {
			super(Databases.mariaDb().orElseThrow());
		}

	}

	abstract static class OnDatabase {

		private static final AtomicLong SEQUENCE = new AtomicLong();

		private static final String INSTANCE = "jdbc-queue-tests-%05d";

		final Database database;

		final JdbcTemplate jdbc;

		private final List<JdbcInstance> instances = new ArrayList<>();

		private volatile boolean stopping;

		final ExecutorService threads = Executors.newCachedThreadPool();

		OnDatabase(Database database) {
			this.database = database.withLocks();
			this.jdbc = new JdbcTemplate(database.dataSource());
		}

		@AfterEach
		void stop() {
			this.stopping = true;
			this.threads.shutdown();
			this.instances.forEach(JdbcInstance::close);
		}

		final JdbcInstance instance() {
			JdbcInstance instance = JdbcInstance.on(this.database);
			this.instances.add(instance);
			return instance;
		}

		final int waiters() {
			return this.jdbc.queryForObject("SELECT COUNT(*) FROM lock_lease_waiter", Integer.class);
		}

		static void close(Future<HeldLock> future) {
			try {
				future.get(1, TimeUnit.MINUTES).close();
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		}

		/**
		 * Each waiter makes one attempt only: it gets the lock if, and only if, no
		 * release overlooks it. Some give up, and must not be given the lock afterwards.
		 */
		@Test
		@Tag("jdbc-queue")
		void noWaiterIsOverlookedAndNoneIsGivenTheLockThatHasLeft() throws Exception {
			AtomicInteger inside = new AtomicInteger();
			AtomicLong lastFencingToken = new AtomicLong();
			CountDownLatch start = new CountDownLatch(1);
			List<Future<Void>> all = new ArrayList<>();
			for (int i = 0; i < 6; i++) {
				LockStore store = JdbcLockStore.builder(instance().pool()).build();
				String name = INSTANCE.formatted(i);
				Callable<Void> owner = () -> {
					start.await();
					for (int round = 0; round < 40; round++) {
						OwnerToken token = new OwnerToken(name, SEQUENCE.incrementAndGet(), 9999);
						boolean leaves = ThreadLocalRandom.current().nextInt(4) == 0;
						if (isAcquired(store, token, leaves)) {
							assertThat(inside.incrementAndGet()).isEqualTo(1);
							long fencingToken = this.jdbc.queryForObject("SELECT fencing_token FROM lock_lease",
									Long.class);
							assertThat(lastFencingToken.getAndSet(fencingToken)).isLessThan(fencingToken);
							inside.decrementAndGet();
						}
						new JoinedStore(store).release(new ReleaseRequest("order 1", token), TIMEOUT);
					}
					return null;
				};
				all.add(this.threads.submit(owner));
			}
			start.countDown();
			for (Future<Void> each : all) {
				each.get(2, TimeUnit.MINUTES);
			}
			assertThat(this.jdbc.queryForObject("SELECT owner FROM lock_lease", String.class)).isEqualTo("-");
			assertThat(waiters()).isZero();
		}

		private static boolean isAcquired(LockStore store, OwnerToken token, boolean leaves)
				throws InterruptedException {
			AcquireResult result = new JoinedStore(store).acquire(new AcquireRequest("order 1", token, LONG, true),
					TIMEOUT);
			if (leaves || result instanceof Acquired) {
				return result instanceof Acquired;
			}
			return isGranted(store, token) || isAcquired(store, token, false);
		}

		/**
		 * Waits for the lock.
		 * @return false if this process, or the database, was paused for so long that the
		 * place in the queue may be over
		 */
		private static boolean isGranted(LockStore store, OwnerToken token) throws InterruptedException {
			long begin = System.nanoTime();
			long longest = 0;
			for (long last = begin, now = begin; now - begin < TIMEOUT.toNanos(); now = System.nanoTime()) {
				if (new JoinedStore(store).renew(List.of(new RenewRequest("order 1", token, LONG)), TIMEOUT)
					.equals(List.of(RenewResult.RENEWED))) {
					return true;
				}
				longest = Math.max(longest, now - last);
				last = now;
				TimeUnit.MILLISECONDS.sleep(2);
			}
			assertThat(Duration.ofNanos(longest)).as("was not overlooked, but paused").isGreaterThan(MAX_PAUSE);
			return false;
		}

		@Test
		@Tag("jdbc-queue")
		void instancesAreServedInTheOrderOfArrival() throws Exception {
			Queue<Integer> order = new ConcurrentLinkedQueue<>();
			HeldLock held = instance().locks().acquire(REQUEST);
			List<Future<?>> all = new ArrayList<>();
			Answers answers = new Answers();
			for (int i = 0; i < 4; i++) {
				int number = i;
				JdbcInstance instance = instance();
				all.add(this.threads.submit(() -> {
					try (HeldLock mine = instance.locks().acquire(REQUEST)) {
						order.add(number);
					}
				}));
				answers.await(() -> waiters() == number + 1);
			}
			held.close();
			answers.await(() -> all.stream().allMatch(Future::isDone));
			for (Future<?> each : all) {
				each.get();
			}
			if (!List.copyOf(order).equals(List.of(0, 1, 2, 3))) {
				assertThat(answers.uninformed || answers.longest.compareTo(MAX_PAUSE) > 0)
					.as("passed over in " + order + " since it was paused, or put behind since no message reached it")
					.isTrue();
			}
			await().until(() -> waiters() == 0);
		}

		/** Each waiter makes one attempt only. */
		@Test
		void waitingInstanceLearnsOfAHandOverWithoutAnotherAttempt() {
			List<JoinedStore> stores = new ArrayList<>();
			List<RecordingListener> listeners = new ArrayList<>();
			List<Inbox> inboxes = new ArrayList<>();
			for (int i = 0; i < 2; i++) {
				LockStore store = instance().store();
				stores.add(new JoinedStore(store));
				listeners.add(new RecordingListener());
				inboxes.add(store.inbox(INSTANCE.formatted(i), listeners.get(i)).orElseThrow());
				inboxes.get(i).open();
			}
			await().until(() -> inboxes.stream().allMatch(Inbox::isConfirmed));
			OwnerToken owner = new OwnerToken(INSTANCE.formatted(0), SEQUENCE.incrementAndGet(), 5000);
			stores.get(0).acquire(new AcquireRequest("order 1", owner, LONG, true), TIMEOUT);
			for (int round = 1; round <= 10; round++) {
				int other = round % 2;
				OwnerToken waiter = new OwnerToken(INSTANCE.formatted(other), SEQUENCE.incrementAndGet(), 5000);
				assertThat(stores.get(other).acquire(new AcquireRequest("order 1", waiter, LONG, true), TIMEOUT))
					.isInstanceOf(Busy.class);
				stores.get(1 - other).release(new ReleaseRequest("order 1", owner), TIMEOUT);
				await().until(
						() -> listeners.get(other).grants.stream().anyMatch((grant) -> grant.token().equals(waiter)));
				owner = waiter;
			}
			inboxes.forEach(Inbox::close);
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
			LockStore store = instance().store();
			new JoinedStore(store).acquire(request(1, false), TIMEOUT);
			assertThat(new JoinedStore(store).acquire(request(2, true), TIMEOUT)).isInstanceOf(Busy.class);
			this.jdbc.update("DELETE FROM lock_lease");
			assertThat(new JoinedStore(store).acquire(request(2, true), TIMEOUT)).isInstanceOf(Acquired.class);
			assertThat(waiters()).isZero();
		}

		private static AcquireRequest request(int instance, boolean queue) {
			return new AcquireRequest("order 1", new OwnerToken(INSTANCE.formatted(instance), 1, 5000), LONG, queue);
		}

		@Test
		void ownerWithLocalTrafficLetsAnotherInstanceHaveItsTurn() throws Exception {
			JdbcInstance busy = instance();
			JdbcInstance other = instance();
			// an owner of before its inbox was open is not told where the database cannot
			// notify
			HeldLock first = other.locks().acquire(REQUEST);
			AtomicInteger holds = new AtomicInteger();
			for (int i = 0; i < 8; i++) {
				this.threads.execute(() -> {
					while (!this.stopping) {
						try (HeldLock held = busy.locks().acquire(REQUEST)) {
							holds.incrementAndGet();
							TimeUnit.MILLISECONDS.sleep(5);
						}
						catch (InterruptedException | LockException ex) {
							// thrown to waiters and holders at the end. Uncaught, it
							// would fail the next await()
							if (!this.stopping) {
								throw new IllegalStateException(ex);
							}
						}
					}
				});
			}
			await().until(() -> waiters() == 1);
			first.close();
			await().until(() -> holds.get() > 100);
			for (int i = 0; i < 5; i++) {
				int before = holds.get();
				try (HeldLock turn = other.locks().acquire(REQUEST)) {
					assertThat(holds.get() - before)
						.as("hand-offs in the owner's instance, which releases the lock after a thousand anyway")
						.isLessThan(OwnerToken.MAX_FENCING_TOKENS / 2);
				}
			}
		}

		/**
		 * Finds out how long this process, or the database, was paused, and whether a
		 * waiter had a short grant: one whose inbox was not confirmed in time.
		 */
		private final class Answers {

			private Duration longest = Duration.ZERO;

			private boolean uninformed;

			private long last = System.nanoTime();

			void await(Callable<Boolean> condition) throws Exception {
				long begin = System.nanoTime();
				while (!condition.call()) {
					this.uninformed |= OnDatabase.this.jdbc
						.queryForList("SELECT token FROM lock_lease_waiter", String.class)
						.stream()
						.anyMatch((token) -> !OwnerToken.parse(token).orElseThrow().needsMessage());
					long now = System.nanoTime();
					Duration since = Duration.ofNanos(now - this.last);
					this.longest = (since.compareTo(this.longest) > 0) ? since : this.longest;
					this.last = now;
					assertThat(Duration.ofNanos(now - begin)).isLessThan(LONG);
					TimeUnit.MILLISECONDS.sleep(5);
				}
			}

		}

	}

	/** Databases that cannot notify. */
	abstract static class OnPolledDatabase extends OnDatabase {

		OnPolledDatabase(Database database) {
			super(database);
		}

		/** Whatever the number of waiting threads and keys is. */
		@Test
		void oneQueryPollsForAllKeysOfAnInstance() throws Exception {
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

}
