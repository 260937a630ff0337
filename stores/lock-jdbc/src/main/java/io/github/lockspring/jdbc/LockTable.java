package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of locks. Each of them is a transaction of its own and
 * compares the owner. Immutable.
 * <p>
 * A lock has a row from its first acquisition on. The row of a free lock has no owner, or
 * its {@code expires_at} has passed; it keeps the last fencing token. All times are those
 * of the server's clock and are read by the statement that uses them, which may be some
 * time before the statement gets the row: a lease then ends earlier, and no earlier than
 * its holder assumes, who counts from before the request was sent. Waiters are in another
 * table, see {@link LockQueue}.
 */
/*
 * For maintainers: MySQL and MariaDB assign columns from left to right and use the new
 * values, so the owner is the last one.
 */
final class LockTable {

	/** No form of a token: it is neither renewed nor released. */
	private static final String KEPT = ".kept";

	/** The row changes between two statements only while others use the lock. */
	private static final int MAX_TRIES = 20;

	private static final long MAX_POLL_GRANT_MILLIS = 500;

	private final boolean returning;

	private final LockQueue queue;

	private final Notifications notifications;

	private final NamedStatement acquire;

	private final NamedStatement insert;

	private final NamedStatement read;

	private final NamedStatement free;

	private final NamedStatement letGo;

	private final NamedStatement keep;

	private final NamedStatement handOver;

	private final NamedStatement renew;

	LockTable(String table, Dialect dialect, Notifications notifications) {
		String now = dialect.nowMicros();
		String owned = " WHERE lock_key = :key AND owner = :token AND expires_at > " + now;
		String acquire = "UPDATE " + table + " SET expires_at = CASE WHEN owner = :token AND expires_at > " + now
				+ " + :ttl THEN expires_at ELSE " + now + " + :ttl END, fencing_token = GREATEST(fencing_token + 1, "
				+ now + "), owner = :token WHERE lock_key = :key AND (expires_at <= " + now + " OR owner = :token)";
		String insert = dialect.insertIfAbsent(
				"INSERT INTO " + table + " (lock_key, expires_at, fencing_token, queued_until, owner) VALUES (:key, "
						+ now + " + :ttl, " + now + ", 0, :token)");
		String handOver = "UPDATE " + table + " SET expires_at = " + now
				+ " + :grant, fencing_token = GREATEST(fencing_token + 1, :fencing + 1, " + now + "), owner = :next"
				+ owned + " AND queued_until = :queued";
		this.returning = dialect.returning(acquire, "fencing_token").isPresent();
		this.acquire = NamedStatement.parse(dialect.returning(acquire, "fencing_token").orElse(acquire));
		this.insert = NamedStatement.parse(dialect.returning(insert, "fencing_token").orElse(insert));
		this.handOver = NamedStatement.parse(dialect.returning(handOver, "fencing_token").orElse(handOver));
		this.read = NamedStatement
			.parse("SELECT " + LockRow.columns(now) + " FROM " + table + " l WHERE l.lock_key = :key");
		String free = "UPDATE " + table + " SET expires_at = 0, fencing_token = GREATEST(fencing_token, :fencing), ";
		String ownedByNobody = "owner = '" + LockRow.NOBODY + "'" + owned;
		this.free = NamedStatement.parse(free + "queued_until = 0, " + ownedByNobody + " AND (queued_until <= " + now
				+ " OR queued_until = :queued)");
		this.letGo = NamedStatement.parse(free + ownedByNobody);
		this.keep = NamedStatement.parse("UPDATE " + table + " SET expires_at = " + now
				+ " + :keep, fencing_token = GREATEST(fencing_token, :fencing), owner = :kept" + owned);
		// a microsecond more, since MySQL counts only changed rows with
		// useAffectedRows=true
		this.renew = NamedStatement
			.parse("UPDATE " + table + " SET expires_at = GREATEST(expires_at + 1, " + now + " + :ttl)" + owned);
		this.queue = new LockQueue(table, dialect);
		this.notifications = notifications;
	}

	/**
	 * Acquires a lock that is free or that the token owns already; otherwise queues the
	 * token if that is requested.
	 * @param ttl length of the lease in microseconds
	 */
	AcquireResult acquire(JdbcCall call, String key, String token, long ttl, QueueMode mode) throws SQLException {
		Map<String, Object> values = Map.of("key", key, "token", token, "ttl", ttl);
		boolean mayBeQueued = mode == QueueMode.REJOIN || mode == QueueMode.POLL;
		boolean isNew = false;
		LockRow row = mayBeQueued ? read(call, key) : null;
		for (int tries = 0; tries < MAX_TRIES; tries++) {
			if (row == null || !row.isOwnedByAnother(token)) {
				boolean owned = row != null && row.isOwnedBy(token);
				OptionalLong fencingToken = execute(call, this.acquire, values, token);
				if (fencingToken.isPresent()) {
					if (mayBeQueued && !owned) {
						this.queue.remove(call, key, token);
					}
					return new Acquired(fencingToken.getAsLong(), owned);
				}
				row = read(call, key);
			}
			if (row == null) {
				OptionalLong fencingToken = insert(call, values, token, mayBeQueued);
				if (fencingToken.isPresent()) {
					return new Acquired(fencingToken.getAsLong());
				}
			}
			else if (row.isOwnedByAnother(token)) {
				if (mode == QueueMode.NONE) {
					return row.busy(false);
				}
				isNew |= this.queue.join(call, key, token, mode == QueueMode.POLL);
				mayBeQueued = true;
				if (this.queue.mark(call, key, token)) {
					notifyOwner(call, key, row);
					return row.busy(isNew);
				}
				row = read(call, key);
			}
		}
		throw new LockUnavailableException("The row of the lock was changed or deleted again and again. Delete only"
				+ " rows that have not been used for long");
	}

	private void notifyOwner(JdbcCall call, String key, LockRow row) {
		OwnerToken.parse(row.owner()).ifPresent((owner) -> this.notifications.wanted(call, key, owner));
	}

	private OptionalLong insert(JdbcCall call, Map<String, Object> values, String token, boolean mayBeQueued)
			throws SQLException {
		try {
			OptionalLong fencingToken = execute(call, this.insert, values, token);
			if (mayBeQueued && fencingToken.isPresent()) {
				// the row of the lock was deleted while it waited
				this.queue.remove(call, String.valueOf(values.get("key")), token);
			}
			return fencingToken;
		}
		catch (SQLException ex) {
			if (JdbcErrors.isDuplicateKey(ex)) {
				// another instance has inserted it since
				return OptionalLong.empty();
			}
			throw ex;
		}
	}

	/**
	 * Returns the fencing token of the row if the statement has changed it, and the new
	 * owner still owns it.
	 */
	private OptionalLong execute(JdbcCall call, NamedStatement statement, Map<String, Object> values, String owner)
			throws SQLException {
		if (this.returning) {
			return call.query(statement, values, (result) -> OptionalLong.of(result.getLong(1)))
				.orElse(OptionalLong.empty());
		}
		if (call.update(statement, values) == 0) {
			return OptionalLong.empty();
		}
		LockRow row = read(call, String.valueOf(values.get("key")));
		if (row == null || !row.isOwnedBy(owner)) {
			return OptionalLong.empty();
		}
		return OptionalLong.of(row.fencingToken());
	}

	/**
	 * Releases a lock: hands it over to the first waiter, if there is one; or keeps it
	 * without an owner for a while. A token that does not own it leaves the queue.
	 * @param fencingToken the last fencing token that was used, or 0
	 * @param keep how long to keep it in microseconds, or 0
	 */
	ReleaseResult release(JdbcCall call, String key, String token, long fencingToken, long keep) throws SQLException {
		if (keep > 0) {
			this.queue.remove(call, key, token);
		}
		if ((keep > 0) ? keep(call, key, token, fencingToken, keep) : free(call, key, token, fencingToken, -1)) {
			return new Released();
		}
		for (int tries = 0; tries < MAX_TRIES; tries++) {
			List<LockQueue.Row> rows = this.queue.read(call, key);
			if (rows.isEmpty()) {
				this.queue.remove(call, key, token);
				return new NotOwner(0);
			}
			LockRow row = rows.get(0).lock();
			if (!row.isOwnedBy(token)) {
				boolean waits = rows.stream().anyMatch((each) -> token.equals(each.token()));
				if (!waits || this.queue.leave(call, key, token)) {
					return row.isOwnedBy(token + KEPT) ? new Released() : new NotOwner(row.fencingToken());
				}
			}
			else if ((keep > 0) ? keep(call, key, token, fencingToken, keep)
					: release(call, key, token, fencingToken, rows)) {
				return new Released();
			}
		}
		// waiters came and went all the time: those who are queued find it free when they
		// look next
		if (keep == 0 && call.update(this.letGo, Map.of("key", key, "token", token, "fencing", fencingToken)) > 0) {
			return new Released();
		}
		throw new LockUnavailableException("The row of the lock was changed again and again");
	}

	private boolean keep(JdbcCall call, String key, String token, long fencingToken, long keep) throws SQLException {
		return call.update(this.keep,
				Map.of("key", key, "token", token, "fencing", fencingToken, "keep", keep, "kept", token + KEPT)) > 0;
	}

	private boolean free(JdbcCall call, String key, String token, long fencingToken, long queued) throws SQLException {
		return call.update(this.free,
				Map.of("key", key, "token", token, "fencing", fencingToken, "queued", queued)) > 0;
	}

	/**
	 * Frees the lock or hands it over, unless a waiter has come or gone since the rows
	 * were read.
	 */
	private boolean release(JdbcCall call, String key, String token, long fencingToken, List<LockQueue.Row> rows)
			throws SQLException {
		if (rows.stream().anyMatch((each) -> token.equals(each.token()))) {
			// before the lock is released, or the next owner would find it in the queue
			this.queue.remove(call, key, token);
		}
		List<LockQueue.Row> waiters = rows.stream().filter((each) -> each.isWaitingBehind(token)).toList();
		boolean released = waiters.isEmpty() ? free(call, key, token, fencingToken, rows.get(0).lock().queuedUntil())
				: handOver(call, key, token, fencingToken, waiters.get(0), waiters.size() > 1);
		if (released && (!waiters.isEmpty() || rows.stream().anyMatch(LockQueue.Row::isOver))) {
			// its own release would do that too, but a lost one must not be handed over
			// again
			this.queue.clean(call, key, waiters.isEmpty() ? token : Objects.requireNonNull(waiters.get(0).token()));
		}
		return released;
	}

	private boolean handOver(JdbcCall call, String key, String token, long fencingToken, LockQueue.Row first,
			boolean othersWait) throws SQLException {
		String next = Objects.requireNonNull(first.token());
		long grant = OwnerToken.parse(next).map(OwnerToken::grantMillis).orElse(1);
		Map<String, Object> values = new HashMap<>();
		values.put("key", key);
		values.put("token", token);
		values.put("fencing", fencingToken);
		values.put("grant", 1000 * (first.polls() ? Math.min(grant, MAX_POLL_GRANT_MILLIS) : grant));
		values.put("queued", first.lock().queuedUntil());
		values.put("next", next);
		if (!this.returning) {
			return call.update(this.handOver, values) > 0;
		}
		Optional<Long> granted = call.query(this.handOver, values, (result) -> result.getLong(1));
		if (granted.isPresent() && !first.polls()) {
			OwnerToken.parse(next)
				.ifPresent((owner) -> this.notifications.granted(call, key, owner, granted.get(), othersWait));
		}
		return granted.isPresent();
	}

	/**
	 * Reads a lock and those that wait for it.
	 * @return as {@link LockQueue#read}
	 */
	List<LockQueue.Row> rows(JdbcCall call, String key) throws SQLException {
		return this.queue.read(call, key);
	}

	NamedStatement renewal() {
		return this.renew;
	}

	/**
	 * Reads a row that need not exist.
	 */
	private @Nullable LockRow read(JdbcCall call, String key) throws SQLException {
		return call.query(this.read, Map.of("key", key), LockRow::of).orElse(null);
	}

	/**
	 * Notifies other instances through the database. Notifications are hints: a failure
	 * to send one is no failure of the request. Implementations are immutable.
	 */
	interface Notifications {

		/** For databases that cannot notify. */
		Notifications NONE = new Notifications() {
		};

		/**
		 * Notifies an instance that a lock was handed over to it. Otherwise it polls.
		 */
		default void granted(JdbcCall call, String row, OwnerToken token, long fencingToken, boolean othersWait) {
		}

		/**
		 * Notifies an instance that others wait for a lock that it owns. Otherwise it
		 * assumes that.
		 */
		default void wanted(JdbcCall call, String row, OwnerToken owner) {
		}

	}

}
