package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * A request of several statements meets others between two of them, and is repeated after
 * a conflict in the last.
 */
class RepeatedRequestTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final String INSTANCE = "repeated-request-tests";

	private final Database database = Databases.h2().withLocks();

	private final AtomicInteger conflicts = new AtomicInteger();

	@Test
	void h29ReleaseThatHasHandedTheLockOverBeforeAConflictSaysNothingAboutLaterOwners() {
		try (LockStore store = JdbcLockStore
			.builder(conflictAt("DELETE FROM lock_lease_waiter WHERE lock_key = ? AND token"))
			.build()) {
			OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
			assertThat(acquire(store, owner)).isInstanceOf(Acquired.class);
			assertThat(acquire(store, new OwnerToken(INSTANCE, 2, 5000))).isInstanceOf(Busy.class);
			ReleaseResult result = new JoinedStore(store).release(new ReleaseRequest("order 1", owner), TIMEOUT);
			assertThat(this.conflicts).hasValue(1);
			assertThat(result).isEqualTo(new ReleaseResult.NotOwner(0));
		}
	}

	/**
	 * With so many waiters that another one comes during each attempt to hand it over.
	 */
	@Test
	void lockIsFreeInTheEndIfEachHandOverIsOvertakenByAWaiter() {
		JdbcTemplate jdbc = new JdbcTemplate(this.database.dataSource());
		try (LockStore store = JdbcLockStore
			.builder(before("fencing_token = GREATEST(fencing_token + 1, ? + 1",
					() -> jdbc.update("UPDATE lock_lease SET queued_at = queued_at + 1")))
			.build()) {
			OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
			Acquired first = (Acquired) acquire(store, owner);
			OwnerToken waiter = new OwnerToken(INSTANCE, 2, 5000);
			assertThat(acquire(store, waiter)).isInstanceOf(Busy.class);
			assertThat(new JoinedStore(store).release(new ReleaseRequest("order 1", owner), TIMEOUT))
				.isInstanceOf(ReleaseResult.Released.class);
			assertThat(jdbc.queryForMap("SELECT owner, expires_at FROM lock_lease")).containsEntry("OWNER", "-")
				.containsEntry("EXPIRES_AT", 0L);
			assertThat(jdbc.queryForObject("SELECT queued_at FROM lock_lease", Long.class))
				.as("others may still be queued")
				.isPositive();
			assertThat(acquire(store, waiter)).isInstanceOfSatisfying(Acquired.class,
					(next) -> assertThat(next.fencingToken()).isGreaterThan(first.fencingToken()));
		}
	}

	@Test
	void waiterWhoseLockWasReleasedBeforeItWasNoticedLeavesNoRow() {
		JdbcTemplate jdbc = new JdbcTemplate(this.database.dataSource());
		OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
		OwnerToken waiter = new OwnerToken(INSTANCE, 2, 5000);
		try (LockStore plain = JdbcLockStore.builder(this.database.dataSource()).build();
				LockStore store = JdbcLockStore
					.builder(before("SET queued_at = GREATEST(",
							() -> new JoinedStore(plain).release(new ReleaseRequest("order 1", owner), TIMEOUT)))
					.build()) {
			assertThat(acquire(plain, owner)).isInstanceOf(Acquired.class);
			assertThat(acquire(store, waiter)).isInstanceOf(Acquired.class);
			assertThat(jdbc.queryForList("SELECT token FROM lock_lease_waiter")).isEmpty();
		}
	}

	/** The release takes it for dead, and has not removed its row yet. */
	@Test
	void waiterThatIsSeenAgainDuringAReleaseIsNotOverlooked() {
		JdbcTemplate jdbc = new JdbcTemplate(this.database.dataSource());
		OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
		OwnerToken waiter = new OwnerToken(INSTANCE, 2, 5000);
		try (LockStore plain = JdbcLockStore.builder(this.database.dataSource()).build();
				LockStore store = JdbcLockStore
					.builder(before("DELETE FROM lock_lease_waiter WHERE lock_key = ? AND seen_at",
							() -> assertThat(acquire(plain, waiter)).isInstanceOf(Busy.class)))
					.build()) {
			assertThat(acquire(plain, owner)).isInstanceOf(Acquired.class);
			assertThat(acquire(plain, waiter)).isInstanceOf(Busy.class);
			jdbc.update("UPDATE lock_lease_waiter SET seen_at = seen_at - ?", LockQueue.PLACE_MICROS);
			assertThat(new JoinedStore(store).release(new ReleaseRequest("order 1", owner), TIMEOUT))
				.isInstanceOf(ReleaseResult.Released.class);
			assertThat(jdbc.queryForObject("SELECT owner FROM lock_lease", String.class)).isEqualTo(waiter.toString());
		}
	}

	/**
	 * Its first attempt has inserted its row, and failed before it was known to releases.
	 */
	@Test
	void waiterWhoseFirstAttemptHadNoResultIsFoundAfterTheNext() {
		OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
		OwnerToken waiter = new OwnerToken(INSTANCE, 2, 5000);
		AtomicInteger failures = new AtomicInteger();
		try (LockStore store = JdbcLockStore.builder(before("SET queued_at = GREATEST(", () -> {
			if (failures.getAndIncrement() == 0) {
				throw new IllegalStateException("for this test");
			}
		})).build()) {
			assertThat(acquire(store, owner)).isInstanceOf(Acquired.class);
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, waiter));
			assertThat(acquire(store, waiter)).isInstanceOf(Busy.class);
			new JoinedStore(store).release(new ReleaseRequest("order 1", owner), TIMEOUT);
			assertThat(new JdbcTemplate(this.database.dataSource()).queryForObject("SELECT owner FROM lock_lease",
					String.class))
				.isEqualTo(waiter.toString());
		}
	}

	/** Its row would be found by the release of a later owner. */
	@Test
	void waiterWhoseFirstAttemptHadNoResultLeavesNoRow() {
		JdbcTemplate jdbc = new JdbcTemplate(this.database.dataSource());
		OwnerToken owner = new OwnerToken(INSTANCE, 1, 5000);
		OwnerToken waiter = new OwnerToken(INSTANCE, 2, 5000);
		try (LockStore plain = JdbcLockStore.builder(this.database.dataSource()).build();
				LockStore store = JdbcLockStore.builder(before("SET queued_at = GREATEST(", () -> {
					throw new IllegalStateException("for this test");
				})).build()) {
			assertThat(acquire(plain, owner)).isInstanceOf(Acquired.class);
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, waiter));
			new JoinedStore(plain).release(new ReleaseRequest("order 1", owner), TIMEOUT);
			assertThat(acquire(store, waiter)).isInstanceOf(Acquired.class);
			assertThat(jdbc.queryForList("SELECT token FROM lock_lease_waiter")).isEmpty();
		}
	}

	/** A source that does something before each statement of this kind. */
	private DataSource before(String words, Runnable action) {
		return new InterceptedDataSource(this.database.dataSource(), (sql, method, arguments, call) -> {
			if (method.getName().equals("prepareStatement") && ((String) arguments[0]).contains(words)) {
				action.run();
			}
			return call.proceed();
		});
	}

	/** A source whose first statement of this kind is refused, as after a deadlock. */
	private DataSource conflictAt(String words) {
		return new InterceptedDataSource(this.database.dataSource(), (sql, method, arguments, call) -> {
			if (method.getName().startsWith("execute") && sql.startsWith(words) && this.conflicts.compareAndSet(0, 1)) {
				throw new SQLException("Deadlock detected", "40001");
			}
			return call.proceed();
		});
	}

	private static Object acquire(LockStore store, OwnerToken token) {
		return new JoinedStore(store).acquire(new AcquireRequest("order 1", token, Duration.ofMinutes(1), true),
				TIMEOUT);
	}

}
