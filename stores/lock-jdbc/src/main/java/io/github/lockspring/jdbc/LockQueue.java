package io.github.lockspring.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of waiters. Immutable.
 */
/*
 * For maintainers: no transaction has more than one statement. With several, a process
 * that is paused between two of them would keep the row of the lock locked, and all
 * others waiting. What makes a hand-over atomic is that the row of the lock is changed by
 * one statement that compares queued_until with what was read before:
 *
 * - An attempt first writes the waiter's row (join, rejoin), then raises queued_until in
 * the row of the lock (mark), if another owner has it. If the lock was released or handed
 * over in between, no row is marked, and the attempt begins again.
 *
 * - A release without an entry in queued_until frees the lock at once. Otherwise it reads
 * lock and waiters in one statement, and frees the lock or hands it over only if
 * queued_until is unchanged. So it has seen every waiter that has marked the row, or it
 * reads again.
 *
 * - The row of a waiter stays when the lock is handed over to it, and is deleted before
 * it releases the lock. So queued_until is not reset by a hand-over: a release must look
 * for its own row as long as that may count.
 *
 * - A waiter that leaves deletes its row, then raises queued_until (unless it owns the
 * lock by then, and releases it), so no release that has read its row before can hand the
 * lock over to it.
 *
 * A waiter counts the lease that it is granted from before it sent its last attempt. A
 * hand-over that was decided before that attempt marked the row does not take place, so
 * the clock that it reads is later, and so is the end of the lease that it writes. The
 * same makes its fencing token larger than the one that the attempt was told.
 */
final class LockQueue {

	/** A waiter that misses five attempts is passed over. */
	static final long PLACE_MICROS = 5 * TimeUnit.NANOSECONDS.toMicros(AcquireRequest.LONGEST_INTERVAL.toNanos());

	private static final long POLL_DELAY_MICROS = TimeUnit.SECONDS.toMicros(1);

	private final NamedStatement join;

	private final NamedStatement rejoin;

	private final NamedStatement mark;

	private final NamedStatement read;

	private final NamedStatement leave;

	private final NamedStatement unmark;

	private final NamedStatement clean;

	LockQueue(String locks, Dialect dialect) {
		String waiters = locks + "_waiter";
		String now = dialect.nowMicros();
		String mine = " WHERE lock_key = :key AND token = :token";
		this.join = NamedStatement.parse(dialect
			.insertIfAbsent("INSERT INTO " + waiters + " (lock_key, token, polls, joined_at, seen_at) VALUES (:key, "
					+ ":token, :polls, " + now + " + :delay, " + now + ")"));
		// polls comes last, since MySQL and MariaDB use the new values
		this.rejoin = NamedStatement.parse("UPDATE " + waiters + " SET joined_at = CASE WHEN polls < :polls THEN " + now
				+ " + :delay ELSE joined_at END, seen_at = " + now + ", polls = :polls" + mine);
		this.mark = NamedStatement.parse("UPDATE " + locks + " SET queued_until = GREATEST(queued_until + 1, " + now
				+ " + " + PLACE_MICROS + ") WHERE lock_key = :key AND owner <> :token AND expires_at > " + now);
		this.read = NamedStatement
			.parse("SELECT " + LockRow.columns(now) + ", w.token, w.polls, w.seen_at FROM " + locks + " l LEFT JOIN "
					+ waiters + " w ON w.lock_key = l.lock_key WHERE l.lock_key = :key ORDER BY w.joined_at, w.token");
		this.leave = NamedStatement.parse("DELETE FROM " + waiters + mine);
		this.unmark = NamedStatement.parse("UPDATE " + locks
				+ " SET queued_until = queued_until + 1 WHERE lock_key = :key AND (owner <> :token OR expires_at <= "
				+ now + ")");
		this.clean = NamedStatement.parse("DELETE FROM " + waiters
				+ " WHERE lock_key = :key AND (token = :token OR seen_at <= " + now + " - " + PLACE_MICROS + ")");
	}

	/**
	 * Puts a token into the queue, or says that it still waits.
	 * @return whether it was not in the queue
	 */
	boolean join(JdbcCall call, String key, String token, boolean polls) throws SQLException {
		Map<String, Object> values = Map.of("key", key, "token", token, "polls", polls ? 1L : 0L, "delay",
				polls ? POLL_DELAY_MICROS : 0L);
		if (call.update(this.rejoin, values) > 0) {
			return false;
		}
		try {
			if (call.update(this.join, values) > 0) {
				return true;
			}
		}
		catch (SQLException ex) {
			if (!JdbcErrors.isDuplicateKey(ex)) {
				throw ex;
			}
		}
		// an earlier request of the token has been carried out since
		call.update(this.rejoin, values);
		return false;
	}

	/**
	 * Makes releases look for waiters.
	 * @return false if no other token owns the lock any more
	 */
	boolean mark(JdbcCall call, String key, String token) throws SQLException {
		return call.update(this.mark, Map.of("key", key, "token", token)) > 0;
	}

	/**
	 * Reads a lock and those that wait for it, the first one first.
	 * @return a row for each waiter; one if there is none; none if there is no lock
	 */
	List<Row> read(JdbcCall call, String key) throws SQLException {
		return call.queryAll(this.read, Map.of("key", key), Row::of);
	}

	/**
	 * Removes a token that owns the lock, or has found it free, from the queue.
	 */
	void remove(JdbcCall call, String key, String token) throws SQLException {
		call.update(this.leave, Map.of("key", key, "token", token));
	}

	/**
	 * Removes a token that gives up.
	 * @return false if it owns the lock: it has been handed over meanwhile
	 */
	boolean leave(JdbcCall call, String key, String token) throws SQLException {
		remove(call, key, token);
		return call.update(this.unmark, Map.of("key", key, "token", token)) > 0;
	}

	/**
	 * Removes a token that the lock was handed over to, and the waiters that have not
	 * been seen for long.
	 */
	void clean(JdbcCall call, String key, String token) throws SQLException {
		call.update(this.clean, Map.of("key", key, "token", token));
	}

	/**
	 * Describes a lock that is taken.
	 * @param key the user's key
	 * @param rows as {@link #read} returns them
	 */
	static Optional<StoredLock> describe(String key, List<Row> rows) {
		LockRow lock = rows.isEmpty() ? null : rows.get(0).lock();
		if (lock == null || lock.expiresAt() <= lock.now()) {
			return Optional.empty();
		}
		List<String> waiting = rows.stream()
			.filter((row) -> row.isWaitingBehind(lock.owner()))
			.flatMap((row) -> StoredLock.instance(String.valueOf(row.token())).stream())
			.toList();
		boolean ours = StoredLock.instance(lock.owner()).isPresent();
		Duration age = Duration.of(Math.max(0, lock.now() - lock.fencingToken()), ChronoUnit.MICROS);
		return Optional
			.of(new StoredLock(key, lock.owner(), Duration.of(lock.expiresAt() - lock.now(), ChronoUnit.MICROS),
					ours ? age : null, Math.max(lock.fencingToken(), lock.now()), waiting.size(),
					waiting.subList(0, Math.min(waiting.size(), StoredLock.MAX_QUEUE))));
	}

	/**
	 * A lock and one of its waiters.
	 *
	 * @param lock the lock
	 * @param token the token that waits; null if none does
	 * @param polls whether no message reaches it
	 * @param seenAt the time of its last attempt
	 */
	record Row(LockRow lock, @Nullable String token, boolean polls, long seenAt) {

		static Row of(ResultSet result) throws SQLException {
			return new Row(LockRow.of(result), result.getString(6), result.getLong(7) != 0, result.getLong(8));
		}

		boolean isWaitingBehind(String owner) {
			return this.token != null && !this.token.equals(owner) && !isOver();
		}

		boolean isOver() {
			return this.token != null && this.seenAt <= this.lock.now() - PLACE_MICROS;
		}

	}

}
