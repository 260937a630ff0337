package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks in a database when the server, the network or an instance fails.
 * The codes in the names are those of {@code docs/failures.md}.
 */
class JdbcFailureTests {

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private static final AtomicInteger KEYS = new AtomicInteger();

	private static PostgresServer server;

	private final String key = "order " + KEYS.incrementAndGet();

	private final LockRequest request = LockRequest.of(this.key).waitTime(PATIENT);

	private final List<JdbcInstance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@BeforeAll
	static void start() {
		server = PostgresServer.start();
		server.database().withLocks();
	}

	@AfterAll
	static void end() {
		server.close();
	}

	@AfterEach
	void stop() {
		this.instances.forEach(JdbcInstance::close);
		this.threads.shutdownNow();
	}

	private JdbcInstance instance(Database database) {
		JdbcInstance instance = JdbcInstance.on(database);
		this.instances.add(instance);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(PATIENT)).close();
		return instance;
	}

	private JdbcInstance instance() {
		return instance(server.database());
	}

	private void assertUnavailable(JdbcInstance instance, Duration waitTime) {
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> instance.locks().acquire(this.request.waitTime(waitTime)))
			.withMessageContaining(this.key)
			.withStackTraceContaining("The database of the locks");
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(waitTime.plusSeconds(20));
	}

	@Test
	void f22ServerThatIsKilledIsUnavailableAndRemembersItsLocksWhenItIsBack() {
		JdbcInstance holder = instance();
		JdbcInstance other = instance();
		HeldLock held = holder.locks().acquire(this.request.ttl(PATIENT).renew(false));
		server.kill();
		try {
			assertUnavailable(other, Duration.ofSeconds(1));
			assertThat(held.isHeld()).isTrue();
		}
		finally {
			server.restart();
		}
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> other.locks().acquire(this.request.waitTime(Duration.ZERO))));
		held.close();
		try (HeldLock next = other.locks().acquire(this.request)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
	}

	@Test
	void f22ServerThatIsPausedEndsNoWaitLateAndLosesALeaseThatItOutlives() {
		JdbcInstance holder = instance();
		JdbcInstance other = instance();
		HeldLock held = holder.locks().acquire(this.request.ttl(Duration.ofSeconds(1)));
		server.pause();
		try {
			assertUnavailable(other, Duration.ofMillis(500));
			await().atMost(PATIENT).until(() -> !held.isHeld());
		}
		finally {
			server.resume();
		}
		try (HeldLock next = other.locks().acquire(this.request)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
		}
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
	}

	@Test
	void f07HolderThatIsCutOffLosesItsLockBeforeAnotherGetsIt() {
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			JdbcInstance holder = instance(server.database(proxy.port()));
			JdbcInstance other = instance();
			HeldLock held = holder.locks().acquire(this.request.ttl(Duration.ofSeconds(2)));
			proxy.stall();
			try (HeldLock next = other.locks().acquire(this.request)) {
				assertThat(held.isHeld()).isFalse();
				assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			}
			proxy.restore();
			assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		}
	}

	/** The acquisition is committed, and its caller does not learn of it. */
	@Test
	void f20LockWhoseAcquisitionGotNoAnswerIsReleased() {
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			JdbcInstance other = instance();
			other.locks().acquire(this.request).close();
			long before = lastFencingToken();
			// a connection that was used a moment ago is not checked first
			JdbcInstance deaf = instance(server.database(proxy.port()));
			proxy.stall(Direction.TO_CLIENT);
			assertUnavailable(deaf, Duration.ofSeconds(1));
			assertThat(lastFencingToken()).as("it was acquired").isGreaterThan(before);
			proxy.restore();
			long start = System.nanoTime();
			other.locks().acquire(this.request).close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).as("its ttl is 30 s")
				.isLessThan(Duration.ofSeconds(25));
		}
	}

	private long lastFencingToken() {
		return Objects.requireNonNull(new JdbcTemplate(server.database().dataSource())
			.queryForObject("SELECT fencing_token FROM lock_lease WHERE lock_key = ?", Long.class, "lock:" + this.key));
	}

	/** The release is committed, and repeated since its result was lost. */
	@Test
	void f20ReleaseWhoseAnswerWasLostHarmsNoLaterHolder() throws Exception {
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			RecordingDataSource recording = new RecordingDataSource(instance(server.database(proxy.port())).pool());
			JdbcInstance deaf = JdbcInstance.on(server.database(proxy.port()), recording);
			this.instances.add(0, deaf);
			JdbcInstance other = instance();
			HeldLock held = deaf.locks().acquire(this.request);
			proxy.stall(Direction.TO_CLIENT);
			this.threads.submit(held::close);
			try (HeldLock next = other.locks().acquire(this.request)) {
				recording.statements().clear();
				proxy.restore();
				// a release reads the queue when its first statement has changed nothing
				await().atMost(PATIENT)
					.until(() -> recording.statements().stream().anyMatch((sql) -> sql.contains("lock_lease_waiter")));
				JdbcInstance.verify(next);
				assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			}
		}
	}

	@Test
	void f24HandOverThatIsNotNotifiedIsFoundByTheNextAttempt() throws Exception {
		try (TcpProxy proxy = new TcpProxy(server.port())) {
			JdbcInstance holder = instance();
			JdbcInstance waiting = instance(server.database(proxy.port()));
			HeldLock held = holder.locks().acquire(this.request.ttl(PATIENT).renew(false));
			Future<HeldLock> waits = this.threads
				.submit(() -> waiting.locks().acquire(this.request.ttl(PATIENT).renew(false)));
			await().atMost(PATIENT).until(this::isQueued);
			proxy.cut(Cut.RST);
			held.close();
			long start = System.nanoTime();
			waits.get(1, TimeUnit.MINUTES).close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
		}
	}

	private boolean isQueued() {
		Integer waiters = new JdbcTemplate(server.database().dataSource()).queryForObject(
				"SELECT COUNT(*) FROM lock_lease_waiter WHERE lock_key = ?", Integer.class, "lock:" + this.key);
		return waiters != null && waiters > 0;
	}

	@Test
	void f30ReadOnlyDatabaseIsNamedWithItsRemedy() {
		JdbcInstance instance = instance();
		JdbcInstance readOnly = JdbcInstance
			.on(server.database().with("?options=-c%20default_transaction_read_only=on"));
		this.instances.add(readOnly);
		// the last attempt within a second may have had no answer at all
		await().atMost(PATIENT)
			.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> readOnly.locks().acquire(this.request.waitTime(Duration.ofSeconds(1))))
				.withStackTraceContaining("read-only")
				.withStackTraceContaining("connect to the primary"));
		instance.locks().acquire(this.request).close();
	}

	/** Behind PgBouncer in transaction mode, for example. */
	@Test
	void preparedStatementsOfOthersAreNamedWithTheSettingThatAvoidsThem() {
		try (HikariDataSource pool = JdbcInstance.pool(server.database().with("?prepareThreshold=1"))) {
			pool.setConnectionInitSql("DO $$ BEGIN FOR i IN 3..99 LOOP"
					+ " EXECUTE format('PREPARE %I AS SELECT 1', 'S_' || i); END LOOP; END $$");
			try (LockStore store = JdbcLockStore.builder(pool).build()) {
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> {
					for (int i = 0; i < 20; i++) {
						OwnerToken token = new OwnerToken("jdbc-failure-tests-000", i, 1000);
						store.acquire(new AcquireRequest(this.key + i, token, PATIENT, QueueMode.NONE), PATIENT);
					}
				})
					.withMessageContaining("already exists")
					.withMessageContaining("prepareThreshold=0")
					.matches((ex) -> !ex.isPermanent());
			}
		}
	}

	@Test
	void f30MissingRightsAreNamedAtOnceAndForAllWaiters() {
		JdbcTemplate admin = new JdbcTemplate(server.database().dataSource());
		admin.execute("CREATE ROLE reader LOGIN PASSWORD 'secret'");
		admin.execute("GRANT SELECT ON lock_lease, lock_lease_waiter TO reader");
		Database database = server.database();
		JdbcInstance restricted = JdbcInstance.on(new Database("postgresql", database.url(), "reader", "secret"));
		this.instances.add(restricted);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> restricted.locks().acquire(this.request))
			.withStackTraceContaining("permission denied for table lock_lease")
			.withStackTraceContaining("needs the rights to SELECT, INSERT, UPDATE and, of 'lock_lease_waiter', DELETE")
			.matches(LockUnavailableException::isPermanent);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).as("no wait mends it").isLessThan(PATIENT);
	}

	@Test
	void missingTableOfWaitersIsNamedByTheFirstThatWaits() {
		JdbcInstance instance = instance();
		HeldLock held = instance.locks().acquire(this.request);
		JdbcTemplate admin = new JdbcTemplate(server.database().dataSource());
		admin.execute("ALTER TABLE lock_lease_waiter RENAME TO hidden");
		try {
			JdbcInstance other = instance();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> other.locks().acquire(this.request))
				.withStackTraceContaining("lock_lease_waiter")
				.withStackTraceContaining("Create both in a migration");
		}
		finally {
			admin.execute("ALTER TABLE hidden RENAME TO lock_lease_waiter");
		}
		held.close();
	}

}
