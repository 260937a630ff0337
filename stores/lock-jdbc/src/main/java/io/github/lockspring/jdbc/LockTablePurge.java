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
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes old rows of free locks and of waiters in the background, once an hour. Of all
 * instances that use the same table and key prefix, one does this; rows of other prefixes
 * stay. Thread-safe.
 */
/*
 * For maintainers: with a row, its fencing token is lost. The next token is the time of
 * the server, which is larger unless its clock is set back by the whole age. The DELETE
 * compares the token with the clock, so rows with tokens ahead of the clock stay.
 *
 * The condition is part of the DELETE, which is a transaction of its own. So a row that
 * is acquired or renewed in the meantime stays: at READ COMMITTED the condition is
 * evaluated again on the new version, at higher levels the statement fails and is
 * repeated. An acquisition that finds its row deleted inserts it. It would be harmless,
 * but useless, if several instances deleted at the same time.
 */
final class LockTablePurge implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockTablePurge.class);

	/**
	 * Small enough to keep no caller waiting for a row for long.
	 */
	private static final int PAGE = 500;

	private static final Duration INTERVAL = Duration.ofHours(1);

	/** Random up to twice this, since all instances often start at the same time. */
	private static final Duration FIRST = Duration.ofMinutes(1);

	private static final Duration TIMEOUT = Duration.ofSeconds(10);

	private final JdbcExecutor requests;

	private final String table;

	private final String keyPrefix;

	private final Duration age;

	private final JdbcExecutor.Request<Dialect> dialect;

	/** The owner of the lock to purge, different in each instance. */
	private final String token = "purge-" + UUID.randomUUID();

	private final ScheduledThreadPoolExecutor schedule = new ScheduledThreadPoolExecutor(1,
			new DaemonThreadFactory("lock-jdbc-purge"));

	/** Used by the scheduled thread only. */
	private boolean failing;

	/**
	 * Starts to delete rows in the background. Connects for the first time after one to
	 * two minutes.
	 * @param requests executes the statements
	 * @param age the time since the last acquisition after which a row is deleted
	 * @param dialect finds the dialect of the database
	 */
	LockTablePurge(JdbcExecutor requests, String table, String keyPrefix, Duration age,
			JdbcExecutor.Request<Dialect> dialect) {
		this.requests = requests;
		this.table = table;
		this.keyPrefix = keyPrefix;
		this.age = age;
		this.dialect = dialect;
		long first = FIRST.toMillis() + ThreadLocalRandom.current().nextLong(FIRST.toMillis());
		this.schedule.scheduleWithFixedDelay(this::run, first, INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
	}

	/**
	 * Deletes rows, unless another instance has done so within the last hour. Logs only
	 * the first of successive failures.
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
					.warn("Cannot delete old rows of the table '{}' (distributed-lock.jdbc.purge-after): {}. The database user"
							+ " needs the right to DELETE from it. This is repeated each hour, and logged again only after a"
							+ " success", this.table, ex.getMessage());
			}
			this.failing = true;
		}
	}

	/** Uses the row of the empty key, which no lock has. */
	private boolean isTurn(JdbcCall call) throws SQLException {
		LockTable locks = new LockTable(this.table, this.dialect.execute(call));
		return locks.acquire(call, RowKey.of(this.keyPrefix), this.token, TimeUnit.MICROSECONDS.convert(INTERVAL),
				null) instanceof Acquired;
	}

	/**
	 * Deletes rows, regardless of other instances.
	 * @return the number of deleted lock rows
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
		Statements sql = Statements.of(this.table, this.dialect.execute(call));
		long micros = TimeUnit.MICROSECONDS.convert(this.age);
		List<Row> rows = call.queryAll(sql.page(), Map.of("after", after, "age", micros),
				(result) -> new Row(result.getString(1), result.getInt(2) != 0));
		List<Row> ours = rows.stream().takeWhile((row) -> row.key().startsWith(this.keyPrefix)).toList();
		String last = ours.isEmpty() ? after : ours.get(ours.size() - 1).key();
		Map<String, Object> range = Map.of("after", after, "last", last, "age", micros);
		int deleted = ours.stream().anyMatch(Row::isOld) ? call.update(sql.deleteLocks(), range) : 0;
		if (!ours.isEmpty()) {
			call.update(sql.deleteWaiters(), range);
		}
		return new Page(last, deleted, ours.size() < PAGE);
	}

	/** Interrupts no statement, since H2 would close a database in a file. */
	@Override
	public void close() {
		this.schedule.shutdown();
	}

	/** A row, and whether it may be deleted. */
	private record Row(String key, boolean isOld) {
	}

	/** A page of rows, up to the key {@code last}. */
	private record Page(String last, int deleted, boolean isLast) {
	}

	private record Statements(NamedStatement page, NamedStatement deleteLocks, NamedStatement deleteWaiters) {

		static Statements of(String table, Dialect dialect) {
			String old = dialect.nowMicros() + " - :age";
			String oldLock = "GREATEST(fencing_token, expires_at, queued_at) < " + old;
			String range = " WHERE lock_key > :after AND lock_key <= :last AND ";
			String page = "SELECT lock_key, CASE WHEN " + oldLock + " THEN 1 ELSE 0 END FROM " + table
					+ " WHERE lock_key > :after ORDER BY lock_key";
			return new Statements(NamedStatement.parse(dialect.first(page, PAGE)),
					NamedStatement.parse("DELETE FROM " + table + range + oldLock),
					NamedStatement.parse("DELETE FROM " + table + "_waiter" + range + "seen_at < " + old));
		}

	}

}
