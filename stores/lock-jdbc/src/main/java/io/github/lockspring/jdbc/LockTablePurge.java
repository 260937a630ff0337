package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.internal.sql.RowKey;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes rows of locks that are free and were acquired last a long time ago, and rows of
 * waiters that have not been seen since then, in the background, once an hour. Of all
 * instances that use the same table and key prefix, one does so; rows of other prefixes
 * stay. Thread-safe.
 */
/*
 * For maintainers: a row that is deleted has forgotten its fencing token. The next one
 * gets the time of the server, which is larger unless that clock is set back by the whole
 * age: the statement that deletes compares the token itself with the clock, so tokens
 * that are ahead of it keep their rows.
 *
 * The condition is part of the DELETE, which is a transaction of its own: a row that is
 * acquired or renewed meanwhile stays, at READ COMMITTED since the condition is evaluated
 * again on its new version, at higher levels since the statement is refused and repeated.
 * An acquisition that finds its row deleted inserts it. Several instances that delete at
 * the same time are harmless; that one does so only saves the others the work.
 */
final class LockTablePurge implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockTablePurge.class);

	/**
	 * So few that a statement has ended before a caller notices that it waits for a row.
	 */
	private static final int PAGE = 500;

	private static final Duration INTERVAL = Duration.ofHours(1);

	/** Starts of all instances at the same time are common. */
	private static final Duration FIRST = Duration.ofMinutes(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final JdbcExecutor requests;

	private final String table;

	private final String keyPrefix;

	private final Duration age;

	private final JdbcExecutor.Request<Dialect> dialect;

	/** Owns the right to purge; a name of its own, since each instance has another. */
	private final String token = "purge-" + UUID.randomUUID();

	private final ScheduledThreadPoolExecutor schedule = new ScheduledThreadPoolExecutor(1,
			new DaemonThreadFactory("lock-jdbc-purge"));

	private volatile @Nullable Statements statements;

	/** Only the scheduled thread uses it. */
	private boolean failing;

	private LockTablePurge(JdbcExecutor requests, String table, String keyPrefix, Duration age,
			JdbcExecutor.Request<Dialect> dialect) {
		this.requests = requests;
		this.table = table;
		this.keyPrefix = keyPrefix;
		this.age = age;
		this.dialect = dialect;
	}

	/**
	 * Starts to delete rows in the background. Does not connect before the first time,
	 * after a minute or two.
	 * @param requests executes the statements
	 * @param age how long ago the lock was acquired last
	 * @param dialect finds the dialect of the database
	 */
	static LockTablePurge start(JdbcExecutor requests, String table, String keyPrefix, Duration age,
			JdbcExecutor.Request<Dialect> dialect) {
		LockTablePurge purge = new LockTablePurge(requests, table, keyPrefix, age, dialect);
		long first = FIRST.toMillis() + ThreadLocalRandom.current().nextLong(FIRST.toMillis());
		purge.schedule.scheduleWithFixedDelay(purge::run, first, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
		return purge;
	}

	/**
	 * Deletes rows, unless another instance has done so within the last hour. Logs a
	 * failure, and is silent about the same one the next time.
	 */
	void run() {
		try {
			if (this.requests.execute(this::isTurn, TIMEOUT)) {
				logger.debug("Deleted {} rows of the table '{}'", purge(), this.table);
			}
			this.failing = false;
		}
		catch (RuntimeException | Error ex) {
			if (!this.failing && !this.schedule.isShutdown()) {
				logger
					.warn("Old rows of the table '{}' were not deleted, as distributed-lock.jdbc.purge-after asks for:"
							+ " {}. The user of the database needs the right to DELETE from it. This is repeated each hour,"
							+ " and logged again only after it has succeeded", this.table, ex.getMessage());
			}
			this.failing = true;
		}
	}

	/** The row of a key that no lock has, since keys are not empty. */
	private boolean isTurn(JdbcCall call) throws SQLException {
		return statements(call).locks.acquire(call, RowKey.of(this.keyPrefix), this.token,
				TimeUnit.MICROSECONDS.convert(INTERVAL), QueueMode.NONE) instanceof Acquired;
	}

	/**
	 * Deletes rows, whatever other instances do.
	 * @return the number of deleted rows of locks
	 */
	int purge() {
		int deleted = 0;
		Page page = new Page(this.keyPrefix, 0, false);
		do {
			String after = page.last();
			page = this.requests.execute((call) -> purge(call, after), TIMEOUT);
			deleted += page.deleted();
		}
		while (!page.isLast());
		return deleted;
	}

	private Page purge(JdbcCall call, String after) throws SQLException {
		Statements sql = statements(call);
		long micros = TimeUnit.MICROSECONDS.convert(this.age);
		List<Row> rows = call.queryAll(sql.page, Map.of("after", after, "age", micros),
				(result) -> new Row(result.getString(1), result.getInt(2) != 0));
		List<Row> ours = rows.stream().takeWhile((row) -> row.key().startsWith(this.keyPrefix)).toList();
		String last = ours.isEmpty() ? after : ours.get(ours.size() - 1).key();
		Map<String, Object> range = Map.of("after", after, "last", last, "age", micros);
		int deleted = ours.stream().anyMatch(Row::isOld) ? call.update(sql.deleteLocks, range) : 0;
		if (!ours.isEmpty()) {
			call.update(sql.deleteWaiters, range);
		}
		return new Page(last, deleted, ours.size() < PAGE);
	}

	private Statements statements(JdbcCall call) throws SQLException {
		Statements present = this.statements;
		if (present == null) {
			present = new Statements(this.table, this.dialect.execute(call));
			this.statements = present;
		}
		return present;
	}

	@Override
	public void close() {
		this.schedule.shutdownNow();
	}

	/** A row, and whether it may be deleted. */
	private record Row(String key, boolean isOld) {
	}

	/** The rows up to a key are done. */
	private record Page(String last, int deleted, boolean isLast) {
	}

	private static final class Statements {

		final LockTable locks;

		final NamedStatement page;

		final NamedStatement deleteLocks;

		final NamedStatement deleteWaiters;

		Statements(String table, Dialect dialect) {
			String old = dialect.nowMicros() + " - :age";
			String oldLock = "GREATEST(fencing_token, expires_at, queued_until) < " + old;
			String range = " WHERE lock_key > :after AND lock_key <= :last AND ";
			this.locks = new LockTable(table, dialect, LockTable.Notifications.NONE);
			this.page = NamedStatement.parse(dialect.first("SELECT lock_key, CASE WHEN " + oldLock
					+ " THEN 1 ELSE 0 END FROM " + table + " WHERE lock_key > :after ORDER BY lock_key", PAGE));
			this.deleteLocks = NamedStatement.parse("DELETE FROM " + table + range + oldLock);
			this.deleteWaiters = NamedStatement.parse("DELETE FROM " + table + "_waiter" + range + "seen_at < " + old);
		}

	}

}
