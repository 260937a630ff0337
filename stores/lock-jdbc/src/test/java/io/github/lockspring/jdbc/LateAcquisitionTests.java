package io.github.lockspring.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import javax.sql.DataSource;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import io.github.lockspring.testsupport.store.ControlledStore.Kind;
import io.github.lockspring.testsupport.store.Instance;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * An acquisition without an answer is carried out after its token was released, on each
 * database (defect 23).
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.TestDatabases#each")
class LateAcquisitionTests {

	private static final Duration PATIENT = Duration.ofSeconds(20);

	/** No test waits for its end. */
	private static final Duration TTL = Duration.ofMinutes(10);

	private static final String FREE = LockRow.NO_OWNER;

	private final Database database;

	private final JdbcTemplate jdbc;

	private final DelayedDataSource source;

	private final OwnerToken token = new OwnerToken("late-acquisition-tests", 1, 5000);

	private final AcquireRequest request = new AcquireRequest("order 1", this.token, TTL, false);

	private final List<AutoCloseable> opened = new ArrayList<>();

	LateAcquisitionTests(Database database) {
		this.database = database;
		this.jdbc = new JdbcTemplate(database.dataSource());
		this.source = new DelayedDataSource(database.dataSource());
	}

	@BeforeEach
	void insertTheRow() {
		this.jdbc.update("DELETE FROM lock_lease");
		this.jdbc.update("INSERT INTO lock_lease (lock_key, owner, fencing_token, expires_at, queued_at)"
				+ " VALUES ('lock:order 1', '-', 1, 0, 0)");
	}

	@AfterEach
	void close() throws Exception {
		for (AutoCloseable each : this.opened) {
			each.close();
		}
	}

	private JoinedStore store(DataSource source) {
		LockStore store = JdbcLockStore.builder(source).build();
		this.opened.add(0, store);
		return new JoinedStore(store);
	}

	private String owner() {
		return Objects.requireNonNull(this.jdbc.queryForObject("SELECT owner FROM lock_lease", String.class));
	}

	private void awaitFree() {
		await().atMost(PATIENT).untilAsserted(() -> assertThat(owner()).isEqualTo(FREE));
	}

	@Test
	@Tag("jdbc-late")
	void f20LockOfACallerThatWasToldThatItIsUnavailableBecomesFree() {
		LockStore store = JdbcLockStore.builder(this.source).build();
		try (Instance instance = Instance.over(store).start()) {
			instance.locks().acquire(LockRequest.of("order 1").waitTime(PATIENT)).close();
			this.source.delayNext();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> instance.locks()
				.tryAcquire(LockRequest.of("order 1").ttl(TTL).renew(false).waitTime(Duration.ZERO)));
			await().until(() -> instance.store().answered(Kind.RELEASE, "order 1").size() == 2);
			this.source.carryOut();
			awaitFree();
		}
	}

	/** As of a future, whose wait ends before its attempt. */
	@Test
	@Tag("jdbc-late")
	void attemptThatFailsAfterItsReleaseMayBeCarriedOutToo() throws Exception {
		JoinedStore store = store(this.source);
		this.source.delayNext();
		this.source.failure = new CountDownLatch(1);
		ExecutorService thread = Executors.newSingleThreadExecutor();
		this.opened.add(thread::shutdownNow);
		Future<?> attempt = thread.submit(() -> store.acquire(this.request, PATIENT));
		await().until(() -> this.source.delayed != null);
		assertThat(store.release(new ReleaseRequest("order 1", this.token), PATIENT)).isInstanceOf(NotOwner.class);
		this.source.failure.countDown();
		assertThatExceptionOfType(Exception.class).isThrownBy(() -> attempt.get(1, TimeUnit.MINUTES));
		this.source.carryOut();
		awaitFree();
	}

	@Test
	void lockThatALaterAttemptHasAcquiredStaysUntilItsHolderReleasesIt() throws Exception {
		RecordingDataSource recording = new RecordingDataSource(this.source);
		JoinedStore store = store(recording);
		this.source.delayNext();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> store.acquire(this.request, PATIENT));
		assertThat(store.acquire(this.request, PATIENT)).isInstanceOf(Acquired.class);
		recording.statements().clear();
		await().during(Duration.ofSeconds(1)).until(() -> recording.statements().isEmpty());
		assertThat(store.release(new ReleaseRequest("order 1", this.token), PATIENT)).isInstanceOf(Released.class);
		this.source.carryOut();
		awaitFree();
	}

	@Test
	void releaseOfALockWhoseAttemptsWereAnsweredIsNotRepeated() {
		RecordingDataSource recording = new RecordingDataSource(this.source);
		JoinedStore store = store(recording);
		store.acquire(this.request, PATIENT);
		store.release(new ReleaseRequest("order 1", this.token), PATIENT);
		recording.statements().clear();
		await().during(Duration.ofSeconds(1)).until(() -> recording.statements().isEmpty());
	}

	/**
	 * A source that sends the next acquisition later, and tells its caller that the
	 * connection has failed.
	 */
	private static final class DelayedDataSource extends DelegatingDataSource {

		private final AtomicBoolean armed = new AtomicBoolean();

		private final ThreadLocal<Boolean> keepsOpen = ThreadLocal.withInitial(() -> false);

		private volatile InterceptedDataSource.@Nullable Call delayed;

		private volatile CountDownLatch failure = new CountDownLatch(0);

		DelayedDataSource(DataSource target) {
			super(target);
			setTargetDataSource(new InterceptedDataSource(target, (sql, method, arguments, call) -> {
				String name = method.getName();
				if (name.startsWith("execute") && sql.contains("CASE WHEN owner") && this.armed.getAndSet(false)) {
					this.keepsOpen.set(true);
					this.delayed = call;
					this.failure.await();
					throw new SQLException("Read timed out", "08006");
				}
				if (name.equals("close") && this.keepsOpen.get()) {
					this.keepsOpen.set(!sql.isEmpty());
					return null;
				}
				return call.proceed();
			}));
		}

		void delayNext() {
			this.armed.set(true);
		}

		/**
		 * Its answer tells that the lock is taken: it may be free again a moment later.
		 */
		void carryOut() {
			try {
				Object answer = Objects.requireNonNull(this.delayed).proceed();
				boolean taken = (answer instanceof ResultSet rows) ? rows.next() : Objects.equals(answer, 1);
				assertThat(taken).as("taken, by the answer " + answer).isTrue();
			}
			catch (Throwable ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
