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
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the waiter table. Immutable.
 */
/*
 * For maintainers: every transaction has a single statement. If it had several, a process
 * paused between two of them would keep the row of the lock locked and block all others.
 * A hand-over is atomic because one statement changes the row of the lock and compares
 * queued_at with the value read before:
 *
 * - The first attempt of a waiter writes the waiter's row (join). Then it raises
 * queued_at in the row of the lock (mark), if another owner has the lock. If the lock was
 * released or handed over in between, no row is marked, and the attempt starts again.
 *
 * - Later attempts change the waiter's row only (stay). If it is gone, the attempt joins
 * and marks again. So does the next one after an attempt without a result, since that may
 * have joined without a mark (Place).
 *
 * - A release frees the lock immediately if queued_at is not set. Otherwise it reads the
 * lock and the waiters in one statement, and frees the lock or hands it over only if
 * queued_at has not changed. If it has, the release reads again, so it never misses a
 * waiter that has marked the row.
 *
 * - A release ignores no row: it deletes those of outdated waiters and reads again. A
 * waiter that is seen again was either found by the release, or finds its row deleted and
 * marks the row of the lock.
 *
 * - The row of a waiter stays when the lock is handed over to it, and is deleted before
 * it releases the lock. So a hand-over does not reset queued_at, and the release looks
 * for its own row.
 *
 * - A waiter that leaves deletes its row, then raises queued_at, so that no release that
 * has read the row before can hand the lock over to it. If it owns the lock by then, it
 * releases it.
 *
 * A waiter counts its granted lease from before its last attempt. The lease of a
 * hand-over that has read the clock before that attempt may end earlier, so it must not
 * be used:
 *
 * - If the attempt has marked the row, such a hand-over fails.
 *
 * - If it has not, the hand-over may succeed, but its fencing token is not larger than
 * the one returned to the attempt, and the waiter asks again. Its token is the larger of
 * the time that it has read and one more than the last token of its owner, which is at
 * most the one in the row plus the number of local hand-offs. It compares the token in
 * the row, which a late request of its owner may raise.
 */
final class LockQueue {

	/** Waiters that miss five attempts are skipped. */
	static final long PLACE_MICROS = 5 * TimeUnit.NANOSECONDS.toMicros(AcquireRequest.LONGEST_INTERVAL.toNanos());

	/** A token that needs no message may miss its turn. */
	private static final long DELAY_WITHOUT_MESSAGE_MICROS = TimeUnit.SECONDS.toMicros(1);

	private final NamedStatement join;

	private final NamedStatement stay;

	private final NamedStatement mark;

	private final NamedStatement read;

	private final NamedStatement readLocked;

	private final NamedStatement delete;

	private final NamedStatement unmark;

	private final NamedStatement deleteOver;

	LockQueue(String locks, Dialect dialect) {
		String waiters = locks + "_waiter";
		String now = dialect.nowMicros();
		String mine = " WHERE lock_key = :key AND token = :token";
		this.join = NamedStatement.parse(dialect
			.insertIfAbsent("INSERT INTO " + waiters + " (lock_key, token, joined_at, seen_at) VALUES (:key, "
					+ ":token, " + now + " + :delay, " + now + ")"));
		this.stay = NamedStatement.parse("UPDATE " + waiters + " SET seen_at = " + now + mine);
		this.mark = NamedStatement.parse("UPDATE " + locks + " SET queued_at = GREATEST(queued_at + 1, " + now
				+ ") WHERE lock_key = :key AND owner <> :token AND expires_at > " + now);
		String read = "SELECT " + LockRow.columns(now) + ", w.token, w.seen_at FROM " + locks + " l LEFT JOIN "
				+ waiters + " w ON w.lock_key = l.lock_key WHERE l.lock_key = :key ORDER BY w.joined_at, w.token";
		this.read = NamedStatement.parse(read);
		this.readLocked = NamedStatement.parse(dialect.locking(read));
		this.delete = NamedStatement.parse("DELETE FROM " + waiters + mine);
		this.unmark = NamedStatement.parse("UPDATE " + locks
				+ " SET queued_at = queued_at + 1 WHERE lock_key = :key AND (owner <> :token OR expires_at <= " + now
				+ ")");
		this.deleteOver = NamedStatement
			.parse("DELETE FROM " + waiters + " WHERE lock_key = :key AND seen_at <= " + now + " - " + PLACE_MICROS);
	}

	/**
	 * Records that a token still waits.
	 * @return false if it is not in the queue
	 */
	boolean stay(JdbcCall call, String key, String token) throws SQLException {
		return call.update(this.stay, Map.of("key", key, "token", token)) > 0;
	}

	/**
	 * Adds a token to the queue, unless it is there.
	 */
	void join(JdbcCall call, String key, String token) throws SQLException {
		if (stay(call, key, token)) {
			return;
		}
		boolean needsMessage = OwnerToken.parse(token).filter(OwnerToken::needsMessage).isPresent();
		try {
			call.update(this.join,
					Map.of("key", key, "token", token, "delay", needsMessage ? 0L : DELAY_WITHOUT_MESSAGE_MICROS));
		}
		catch (SQLException ex) {
			// a duplicate means that an earlier request of the token was executed late
			if (!JdbcErrors.isDuplicateKey(ex)) {
				throw ex;
			}
		}
	}

	/**
	 * Makes releases look for waiters.
	 * @return false if no other token owns the lock now
	 */
	boolean mark(JdbcCall call, String key, String token) throws SQLException {
		return call.update(this.mark, Map.of("key", key, "token", token)) > 0;
	}

	/**
	 * Reads a lock and its waiters, in order.
	 * @param locked whether to lock the row, as no replica can
	 * @return one row for each waiter; a single row if there is no waiter; no row if
	 * there is no lock
	 */
	List<Row> read(JdbcCall call, String key, boolean locked) throws SQLException {
		return call.queryAll(locked ? this.readLocked : this.read, Map.of("key", key), Row::of);
	}

	/**
	 * Removes a token from the queue that owns the lock or has found it free.
	 */
	void remove(JdbcCall call, String key, String token) throws SQLException {
		call.update(this.delete, Map.of("key", key, "token", token));
	}

	/**
	 * Removes a token from the queue that waits no longer.
	 * @return false if the token owns the lock, which was handed over to it in the
	 * meantime
	 */
	boolean leave(JdbcCall call, String key, String token) throws SQLException {
		remove(call, key, token);
		return call.update(this.unmark, Map.of("key", key, "token", token)) > 0;
	}

	/**
	 * Removes outdated waiters.
	 */
	void removeOver(JdbcCall call, String key) throws SQLException {
		call.update(this.deleteOver, Map.of("key", key));
	}

	/**
	 * Describes a taken lock.
	 * @param key the user's key
	 * @param rows the result of {@link #read}
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
	 * @param token the waiting token; null if there is none
	 * @param seenAt the time of its last attempt
	 */
	record Row(LockRow lock, @Nullable String token, long seenAt) {

		static Row of(ResultSet result) throws SQLException {
			return new Row(LockRow.of(result), result.getString(6), result.getLong(7));
		}

		boolean isWaitingBehind(String owner) {
			return this.token != null && !this.token.equals(owner) && !isOver();
		}

		boolean isOver() {
			return this.token != null && this.seenAt <= this.lock.now() - PLACE_MICROS;
		}

	}

}
