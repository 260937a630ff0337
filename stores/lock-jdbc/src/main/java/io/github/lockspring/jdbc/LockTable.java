package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the lock table. Each of them is a transaction of its own and compares
 * the owner. Immutable.
 * <p>
 * A lock has a row from its first acquisition on, which keeps the last fencing token. In
 * the row of a free lock, there is no owner or {@code expires_at} has passed. The
 * statement that uses a time reads it from the server's clock, perhaps some time before
 * it gets the row. The lease then ends earlier, but not earlier than its holder assumes,
 * who counts from before the request was sent. {@link LockQueue} has the waiters.
 */
/*
 * For maintainers: MySQL and MariaDB assign columns from left to right and use the new
 * values, so the owner comes last.
 */
final class LockTable {

	/** Makes the owner differ from every token, so it is neither renewed nor released. */
	private static final String KEPT = ".kept";

	/** Rarely reached: a row changes between two statements only while others use it. */
	private static final int MAX_TRIES = 20;

	/** The columns to read from a lock that has a new owner. */
	private static final String GRANT = "fencing_token, queued_at";

	private final boolean returning;

	private final LockQueue queue;

	private final boolean notifies;

	private final NamedStatement acquire;

	private final NamedStatement insert;

	private final NamedStatement read;

	private final NamedStatement readLocked;

	private final NamedStatement free;

	private final NamedStatement freeAnyway;

	private final NamedStatement keep;

	private final NamedStatement handOver;

	private final NamedStatement renew;

	LockTable(String table, Dialect dialect) {
		String now = dialect.nowMicros();
		String owned = " WHERE lock_key = :key AND owner = :token AND expires_at > " + now;
		String acquire = "UPDATE " + table + " SET expires_at = CASE WHEN owner = :token AND expires_at > " + now
				+ " + :ttl THEN expires_at ELSE " + now + " + :ttl END, fencing_token = GREATEST(fencing_token + 1, "
				+ now + "), owner = :token WHERE lock_key = :key AND (expires_at <= " + now + " OR owner = :token)";
		String insert = dialect.insertIfAbsent(
				"INSERT INTO " + table + " (lock_key, expires_at, fencing_token, queued_at, owner) VALUES (:key, " + now
						+ " + :ttl, " + now + ", 0, :token)");
		String handOver = "UPDATE " + table + " SET expires_at = " + now
				+ " + :grant, fencing_token = GREATEST(fencing_token + 1, :fencing + 1, " + now + "), owner = :next"
				+ owned + " AND queued_at = :queued AND fencing_token = :seen";
		this.returning = dialect.returning(acquire, GRANT).isPresent();
		this.acquire = NamedStatement.parse(dialect.returning(acquire, GRANT).orElse(acquire));
		this.insert = NamedStatement.parse(dialect.returning(insert, GRANT).orElse(insert));
		this.handOver = NamedStatement.parse(dialect.returning(handOver, GRANT).orElse(handOver));
		String read = "SELECT " + LockRow.columns(now) + " FROM " + table + " l WHERE l.lock_key = :key";
		this.read = NamedStatement.parse(read);
		this.readLocked = NamedStatement.parse(dialect.locking(read));
		String free = "UPDATE " + table + " SET expires_at = 0, fencing_token = GREATEST(fencing_token, :fencing), ";
		String noOwner = "owner = '" + LockRow.NO_OWNER + "'" + owned;
		this.free = NamedStatement
			.parse(free + "queued_at = 0, " + noOwner + " AND (queued_at = 0 OR queued_at = :queued)");
		this.freeAnyway = NamedStatement.parse(free + noOwner);
		this.keep = NamedStatement.parse("UPDATE " + table + " SET expires_at = " + now
				+ " + :keep, fencing_token = GREATEST(fencing_token, :fencing), owner = :kept" + owned);
		// at least a microsecond more: with useAffectedRows=true, MySQL counts only
		// changed rows
		this.renew = NamedStatement
			.parse("UPDATE " + table + " SET expires_at = GREATEST(expires_at + 1, " + now + " + :ttl)" + owned);
		this.queue = new LockQueue(table, dialect);
		this.notifies = dialect == Dialect.POSTGRESQL;
	}

	/**
	 * Acquires a lock that is free or already owned by the token. Otherwise queues the
	 * token if requested.
	 * @param ttl length of the lease in microseconds
	 * @param place the token's place in the queue; null not to queue it
	 */
	AcquireResult acquire(JdbcCall call, String key, String token, long ttl, @Nullable Place place)
			throws SQLException {
		Map<String, Object> values = Map.of("key", key, "token", token, "ttl", ttl);
		for (int tries = 0; tries < MAX_TRIES; tries++) {
			Optional<Grant> grant = execute(call, this.acquire, values, token);
			LockRow row = grant.isPresent() ? null : read(call, key, tries > 0);
			if (grant.isEmpty() && row == null) {
				grant = insert(call, values, token);
			}
			if (grant.isPresent()) {
				if (grant.get().queuedAt() != 0 || (place != null && place.mayHaveRow())) {
					this.queue.remove(call, key, token);
				}
				return new Acquired(grant.get().fencingToken());
			}
			if (row != null && row.isOwnedByAnother(token)) {
				Optional<Busy> busy = (place != null) ? enqueue(call, key, token, place, row) : Optional.of(row.busy());
				if (busy.isPresent()) {
					return busy.get();
				}
			}
		}
		throw new LockUnavailableException("The row of the lock kept changing or being deleted. Delete only rows"
				+ " that have not been used for a long time");
	}

	/**
	 * Queues a token, or records that it still waits.
	 * @return empty if no other token owns the lock any more
	 */
	private Optional<Busy> enqueue(JdbcCall call, String key, String token, Place place, LockRow row)
			throws SQLException {
		Busy busy = row.stillBusy();
		if (!place.isMarked() || !this.queue.stay(call, key, token)) {
			place.joining();
			this.queue.join(call, key, token);
			if (!this.queue.mark(call, key, token)) {
				return Optional.empty();
			}
			place.marked();
			busy = row.busy();
		}
		if (this.notifies) {
			OwnerToken.parse(row.owner()).ifPresent((owner) -> PostgresNotifications.wanted(call, key, owner));
		}
		return Optional.of(busy);
	}

	private Optional<Grant> insert(JdbcCall call, Map<String, Object> values, String token) throws SQLException {
		try {
			return execute(call, this.insert, values, token);
		}
		catch (SQLException ex) {
			if (JdbcErrors.isDuplicateKey(ex)) {
				// another instance has inserted it
				return Optional.empty();
			}
			throw ex;
		}
	}

	/**
	 * Executes a statement and returns the grant, if the statement changed the row and
	 * the new owner still owns the lock.
	 */
	private Optional<Grant> execute(JdbcCall call, NamedStatement statement, Map<String, Object> values, String owner)
			throws SQLException {
		if (this.returning) {
			return call.query(statement, values, (result) -> new Grant(result.getLong(1), result.getLong(2)));
		}
		if (call.update(statement, values) == 0) {
			return Optional.empty();
		}
		LockRow row = read(call, String.valueOf(values.get("key")), true);
		return (row != null && row.isOwnedBy(owner)) ? Optional.of(new Grant(row.fencingToken(), row.queuedAt()))
				: Optional.empty();
	}

	/**
	 * Releases a lock, hands it over to the first waiter, or keeps it without an owner
	 * for a while. A token that does not own it leaves the queue. Whether it does is
	 * found by a statement that changes or locks the row, since others may be answered by
	 * a replica that is behind.
	 * @param fencingToken the last fencing token used, or 0
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
			boolean locked = tries > 0;
			List<LockQueue.Row> rows = this.queue.read(call, key, locked);
			if (rows.stream().noneMatch((each) -> each.lock().isOwnedBy(token))) {
				boolean waits = rows.stream().anyMatch((each) -> token.equals(each.token()));
				if (waits ? this.queue.leave(call, key, token) : locked) {
					return notOwner(call, key, token, rows);
				}
			}
			else if ((keep > 0) ? keep(call, key, token, fencingToken, keep)
					: release(call, key, token, fencingToken, rows)) {
				return new Released();
			}
		}
		// the queue kept changing: free the lock, and waiters find it with their next
		// attempt
		if (keep == 0
				&& call.update(this.freeAnyway, Map.of("key", key, "token", token, "fencing", fencingToken)) > 0) {
			return new Released();
		}
		throw new LockUnavailableException("The row of the lock kept changing");
	}

	private ReleaseResult notOwner(JdbcCall call, String key, String token, List<LockQueue.Row> rows)
			throws SQLException {
		if (rows.isEmpty()) {
			this.queue.remove(call, key, token);
			return new NotOwner(0);
		}
		LockRow row = rows.get(0).lock();
		return row.isOwnedBy(token + KEPT) ? new Released() : new NotOwner(row.fencingToken());
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
	 * Frees the lock or hands it over, unless the queue has changed since the rows were
	 * read.
	 */
	private boolean release(JdbcCall call, String key, String token, long fencingToken, List<LockQueue.Row> rows)
			throws SQLException {
		if (rows.stream().anyMatch((each) -> token.equals(each.token()))) {
			// before the release, or the token could be granted the lock again
			this.queue.remove(call, key, token);
		}
		if (rows.stream().anyMatch(LockQueue.Row::isOver)) {
			// one that is seen again in this moment must not be overlooked
			this.queue.removeOver(call, key);
			return false;
		}
		List<LockQueue.Row> waiters = rows.stream().filter((each) -> each.isWaitingBehind(token)).toList();
		if (waiters.isEmpty()) {
			return free(call, key, token, fencingToken, rows.get(0).lock().queuedAt());
		}
		LockQueue.Row first = waiters.get(0);
		boolean handedOver = handOver(call, key, token, fencingToken, first, waiters.size() > 1);
		if (handedOver) {
			// its own release would also remove it, but a lost token must not get the
			// lock again
			this.queue.remove(call, key, Objects.requireNonNull(first.token()));
		}
		return handedOver;
	}

	private boolean handOver(JdbcCall call, String key, String token, long fencingToken, LockQueue.Row first,
			boolean othersWait) throws SQLException {
		String next = Objects.requireNonNull(first.token());
		Optional<OwnerToken> owner = OwnerToken.parse(next);
		Map<String, Object> values = new HashMap<>();
		values.put("key", key);
		values.put("token", token);
		values.put("fencing", fencingToken);
		values.put("grant", TimeUnit.MILLISECONDS.toMicros(owner.map(OwnerToken::grantMillis).orElse(1)));
		values.put("queued", first.lock().queuedAt());
		values.put("seen", first.lock().fencingToken());
		values.put("next", next);
		if (!this.returning) {
			return call.update(this.handOver, values) > 0;
		}
		Optional<Long> granted = call.query(this.handOver, values, (result) -> result.getLong(1));
		if (this.notifies && granted.isPresent()) {
			// a message costs another transaction
			owner.filter(OwnerToken::needsMessage)
				.ifPresent((to) -> PostgresNotifications.granted(call, key, to, granted.get(), othersWait));
		}
		return granted.isPresent();
	}

	/**
	 * Reads a lock and its waiters.
	 * @return as {@link LockQueue#read}
	 */
	List<LockQueue.Row> rows(JdbcCall call, String key) throws SQLException {
		return this.queue.read(call, key, false);
	}

	NamedStatement renewal() {
		return this.renew;
	}

	/**
	 * Reads a row; null if it does not exist.
	 */
	private @Nullable LockRow read(JdbcCall call, String key, boolean locked) throws SQLException {
		return call.query(locked ? this.readLocked : this.read, Map.of("key", key), LockRow::of).orElse(null);
	}

	/**
	 * A lock that has a new owner.
	 *
	 * @param queuedAt the last time at which a waiter joined or left, or 0
	 */
	private record Grant(long fencingToken, long queuedAt) {
	}

}
