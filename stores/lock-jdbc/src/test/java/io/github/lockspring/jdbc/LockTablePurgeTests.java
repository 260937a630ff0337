package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The deletion of old rows, on each database: which rows go, and that no lock and no
 * fencing token suffers from it.
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.TestDatabases#eachAndSerializable")
class LockTablePurgeTests {

	private static final Duration WEEK = Duration.ofDays(7);

	private static final Duration MOMENT = Duration.ofNanos(1000);

	private static final long MONTH_MICROS = TimeUnit.DAYS.toMicros(30);

	private final Database database;

	private final Dialect dialect;

	private final JdbcTemplate jdbc;

	private final List<AutoCloseable> opened = new ArrayList<>();

	LockTablePurgeTests(Database database) {
		this.database = database;
		this.dialect = Dialect.of(database.platform()).orElseThrow();
		this.jdbc = new JdbcTemplate(database.dataSource());
	}

	@BeforeEach
	void empty() {
		this.jdbc.update("DELETE FROM lock_lease");
		this.jdbc.update("DELETE FROM lock_lease_waiter");
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	private LockTablePurge purge(Duration age) {
		JdbcExecutor requests = new JdbcExecutor(this.database.dataSource(), "lock_lease", "", 1);
		LockTablePurge purge = new LockTablePurge(requests, "lock_lease", "lock:", age, (call) -> this.dialect);
		this.opened.add(purge);
		this.opened.add(requests);
		return purge;
	}

	private JdbcInstance instance() {
		JdbcInstance instance = JdbcInstance.on(this.database);
		this.opened.add(instance);
		return instance;
	}

	private void row(String key, String fencingToken, String expiresAt, String queuedAt) {
		this.jdbc.update("INSERT INTO lock_lease (lock_key, owner, fencing_token, expires_at, queued_at)"
				+ " VALUES (?, 'owner', " + fencingToken + ", " + expiresAt + ", " + queuedAt + ")", key);
	}

	private void waiter(String key, String seenAt) {
		this.jdbc.update("INSERT INTO lock_lease_waiter (lock_key, token, joined_at, seen_at)"
				+ " VALUES (?, 'waiter', 0, " + seenAt + ")", key);
	}

	private List<String> keys(String table) {
		return this.jdbc.queryForList("SELECT lock_key FROM " + table, String.class);
	}

	@Test
	@Tag("jdbc-purge")
	@Tag("remains-jdbc")
	void oldRowsGoAndThoseThatAreHeldWaitedForRecentOrOfOthersStay() {
		String now = this.dialect.nowMicros();
		String old = now + " - " + MONTH_MICROS;
		row("lock:old", old, "0", "0");
		row("lock:expired long ago", old, old, old);
		row("lock:held", old, now + " + 60000000", "0");
		row("lock:waited for", old, "0", now);
		row("lock:recent", now, "0", "0");
		row("lock:six days old", now + " - " + TimeUnit.DAYS.toMicros(6), "0", "0");
		row("lock:ahead of the clock", now + " + " + MONTH_MICROS, "0", "0");
		row("another application:old", old, "0", "0");
		row("one more application:old", old, "0", "0");
		waiter("lock:held", now);
		waiter("lock:old", old);
		assertThat(purge(WEEK).purge()).isEqualTo(2);
		assertThat(keys("lock_lease")).containsExactlyInAnyOrder("lock:held", "lock:waited for", "lock:recent",
				"lock:six days old", "lock:ahead of the clock", "another application:old", "one more application:old");
		assertThat(keys("lock_lease_waiter")).containsExactly("lock:held");
	}

	@Test
	void manyRowsAreDeletedByManyStatements() {
		this.jdbc.batchUpdate("INSERT INTO lock_lease VALUES (?, '-', ?, 0, 0)",
				IntStream.range(0, 1300)
					.mapToObj((i) -> new Object[] { "lock:" + i, (i % 13 == 0) ? Long.MAX_VALUE : 1L })
					.toList());
		assertThat(purge(WEEK).purge()).isEqualTo(1200);
		assertThat(keys("lock_lease")).hasSize(100);
	}

	@Test
	@Tag("jdbc-purge-and-tokens")
	@Tag("remains-jdbc")
	void tokensGrowOverAPurge() throws Exception {
		JdbcInstance instance = instance();
		LockRequest request = LockRequest.of("order 1");
		long last = 0;
		for (int i = 0; i < 3; i++) {
			HeldLock held = instance.locks().acquire(request);
			assertThat(held.fencingToken()).isGreaterThan(last);
			last = held.fencingToken();
			assertThat(purge(MOMENT).purge()).as("it is held").isZero();
			held.close();
			// later, if the release had no answer in time and was repeated
			LockTablePurge purge = purge(MOMENT);
			await().pollDelay(Duration.ofMillis(1)).until(() -> purge.purge() == 1);
		}
	}

	/** Every row goes as soon as its lock is free. */
	@Test
	@Tag("jdbc-purge")
	@Tag("remains-jdbc")
	void purgesOfSeveralInstancesCostNoCallerALock() throws Exception {
		AtomicBoolean done = new AtomicBoolean();
		AtomicInteger deleted = new AtomicInteger();
		AtomicInteger[] inside = { new AtomicInteger(), new AtomicInteger() };
		ExecutorService threads = Executors.newCachedThreadPool();
		try {
			List<Future<?>> purges = new ArrayList<>();
			for (LockTablePurge purge : List.of(purge(MOMENT), purge(MOMENT))) {
				purges.add(threads.submit(() -> {
					while (!done.get()) {
						deleted.addAndGet(purge.purge());
					}
				}));
			}
			List<Future<?>> callers = new ArrayList<>();
			for (JdbcInstance instance : List.of(instance(), instance(), instance())) {
				callers.add(threads.submit(() -> {
					for (int round = 0; round < 20; round++) {
						try (HeldLock held = instance.locks().acquire(order(round % 2))) {
							assertThat(inside[round % 2].incrementAndGet()).isEqualTo(1);
							JdbcInstance.verify(held);
							inside[round % 2].decrementAndGet();
						}
					}
				}));
			}
			for (Future<?> each : callers) {
				each.get(2, TimeUnit.MINUTES);
			}
			// locks that were always wanted were never free, and kept their rows
			JdbcInstance last = instance();
			while (deleted.get() <= 2) {
				last.locks().acquire(order(0)).close();
			}
			done.set(true);
			for (Future<?> each : purges) {
				each.get(1, TimeUnit.MINUTES);
			}
		}
		finally {
			done.set(true);
			threads.shutdown();
		}
	}

	private static LockRequest order(int number) {
		return LockRequest.of("order " + number).waitTime(Duration.ofMinutes(1));
	}

	@Test
	void oneOfSeveralInstancesDoesTheWork() {
		LockTablePurge first = purge(WEEK);
		LockTablePurge second = purge(WEEK);
		first.run();
		row("lock:old", "1", "0", "0");
		second.run();
		assertThat(keys("lock_lease")).contains("lock:old");
		first.run();
		assertThat(keys("lock_lease")).doesNotContain("lock:old");
	}

	@Test
	void storePurgesOnAThreadThatEndsWithItUnlessItIsToldNotTo() {
		// those of other tests
		await().until(() -> threads() == 0);
		JdbcLockStore.builder(this.database.dataSource()).purgeAfter(null).build().close();
		assertThat(threads()).isZero();
		try (JdbcLockStore store = JdbcLockStore.builder(this.database.dataSource()).build()) {
			assertThat(threads()).isEqualTo(1);
		}
		await().until(() -> threads() == 0);
	}

	private static long threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().equals("lock-jdbc-purge"))
			.count();
	}

}
