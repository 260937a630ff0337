package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.AcquireResult.Acquired;
import io.github.lockspring.store.AcquireResult.Busy;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.ReleaseResult.NotOwner;
import io.github.lockspring.store.ReleaseResult.Released;
import org.jspecify.annotations.Nullable;

/**
 * The statements on the table of locks. Each of them is a transaction of its own and
 * compares the owner. Immutable.
 * <p>
 * A lock has a row from its first acquisition on. The row of a free lock has no owner, or
 * its {@code expires_at} has passed; it keeps the last fencing token. All times are those
 * of the server's clock and are read by the statement that uses them, which may be some
 * time before the statement gets the row: a lease then ends earlier, and no earlier than
 * its holder assumes, who counts from before the request was sent.
 */
/*
 * For maintainers: MySQL and MariaDB assign columns from left to right and use the new
 * values, so the owner is the last one.
 */
final class LockTable {

	/** No form of a token: it is neither renewed nor released. */
	private static final String KEPT = ".kept";

	/** The row changes between two statements only while others use the lock. */
	private static final int MAX_TRIES = 3;

	private final boolean returning;

	private final NamedStatement acquire;

	private final NamedStatement insert;

	private final NamedStatement read;

	private final NamedStatement release;

	private final NamedStatement renew;

	LockTable(String table, JdbcDialect dialect) {
		String now = dialect.nowMicros();
		String owned = " WHERE lock_key = :key AND owner = :token AND expires_at > " + now;
		String acquire = "UPDATE " + table + " SET expires_at = CASE WHEN owner = :token AND expires_at > " + now
				+ " + :ttl THEN expires_at ELSE " + now + " + :ttl END, fencing_token = GREATEST(fencing_token + 1, "
				+ now + "), owner = :token WHERE lock_key = :key AND (expires_at <= " + now + " OR owner = :token)";
		String insert = dialect
			.insertIfAbsent("INSERT INTO " + table + " (lock_key, expires_at, fencing_token, owner) VALUES (:key, "
					+ now + " + :ttl, " + now + ", :token)");
		Optional<String> acquireReturning = dialect.returning(acquire, "fencing_token");
		this.returning = acquireReturning.isPresent();
		this.acquire = NamedStatement.parse(acquireReturning.orElse(acquire));
		this.insert = NamedStatement.parse(dialect.returning(insert, "fencing_token").orElse(insert));
		this.read = NamedStatement
			.parse("SELECT owner, fencing_token, expires_at, " + now + " FROM " + table + " WHERE lock_key = :key");
		this.release = NamedStatement.parse("UPDATE " + table + " SET expires_at = CASE WHEN :keep = 0 THEN 0 ELSE "
				+ now + " + :keep END, fencing_token = GREATEST(fencing_token, :fencing), owner = :kept" + owned);
		// a microsecond more, since MySQL counts only changed rows with
		// useAffectedRows=true
		this.renew = NamedStatement
			.parse("UPDATE " + table + " SET expires_at = GREATEST(expires_at + 1, " + now + " + :ttl)" + owned);
	}

	/**
	 * Acquires a lock that is free or that the token owns already.
	 * @param ttl length of the lease in microseconds
	 */
	AcquireResult acquire(JdbcCall call, String key, String token, long ttl) throws SQLException {
		Map<String, Object> values = Map.of("key", key, "token", token, "ttl", ttl);
		LockRow row = null;
		for (int tries = 0; tries < MAX_TRIES; tries++) {
			OptionalLong fencingToken = execute(call, this.acquire, values);
			if (fencingToken.isPresent()) {
				return new Acquired(fencingToken.getAsLong());
			}
			row = read(call, key);
			if (row == null) {
				fencingToken = insert(call, values);
				if (fencingToken.isPresent()) {
					return new Acquired(fencingToken.getAsLong());
				}
			}
			else if (row.isOwnedByAnother(token)) {
				return row.busy();
			}
		}
		if (row == null) {
			throw new LockUnavailableException(
					"The row of the lock was deleted again and again. Delete only rows that have not been used for long");
		}
		return row.busy();
	}

	private OptionalLong insert(JdbcCall call, Map<String, Object> values) throws SQLException {
		try {
			return execute(call, this.insert, values);
		}
		catch (SQLException ex) {
			if (JdbcErrors.isDuplicateKey(ex)) {
				// another instance has inserted it since
				return OptionalLong.empty();
			}
			throw ex;
		}
	}

	/** Returns the fencing token of the row if the statement has changed it. */
	private OptionalLong execute(JdbcCall call, NamedStatement statement, Map<String, Object> values)
			throws SQLException {
		if (this.returning) {
			return call.query(statement, values, (result) -> OptionalLong.of(result.getLong(1)))
				.orElse(OptionalLong.empty());
		}
		if (call.update(statement, values) == 0) {
			return OptionalLong.empty();
		}
		LockRow row = read(call, String.valueOf(values.get("key")));
		if (row == null || !row.isOwnedBy(String.valueOf(values.get("token")))) {
			return OptionalLong.empty();
		}
		return OptionalLong.of(row.fencingToken());
	}

	/**
	 * Releases a lock, or keeps it without an owner for a while.
	 * @param fencingToken the last fencing token that was used, or 0
	 * @param keep how long to keep it in microseconds, or 0
	 */
	ReleaseResult release(JdbcCall call, String key, String token, long fencingToken, long keep) throws SQLException {
		// an empty owner is text on all databases, unlike null
		String kept = (keep > 0) ? token + KEPT : "";
		if (call.update(this.release,
				Map.of("key", key, "token", token, "fencing", fencingToken, "keep", keep, "kept", kept)) > 0) {
			return new Released();
		}
		LockRow row = read(call, key);
		if (row == null) {
			return new NotOwner(0);
		}
		return row.isOwnedBy(token + KEPT) ? new Released() : new NotOwner(row.fencingToken());
	}

	NamedStatement renewal() {
		return this.renew;
	}

	/**
	 * Reads a row that need not exist.
	 */
	void probe(JdbcCall call) throws SQLException {
		read(call, "");
	}

	private @Nullable LockRow read(JdbcCall call, String key) throws SQLException {
		return call
			.query(this.read, Map.of("key", key),
					(result) -> new LockRow(String.valueOf(result.getString(1)), result.getLong(2), result.getLong(3),
							result.getLong(4)))
			.orElse(null);
	}

	/**
	 * A row as it was read.
	 *
	 * @param owner the owner, empty if there is none
	 * @param fencingToken the last fencing token
	 * @param expiresAt when the lease ends, in microseconds of the server's clock
	 * @param now the server's clock
	 */
	private record LockRow(String owner, long fencingToken, long expiresAt, long now) {

		boolean isOwnedBy(String token) {
			return this.expiresAt > this.now && this.owner.equals(token);
		}

		boolean isOwnedByAnother(String token) {
			return this.expiresAt > this.now && !this.owner.equals(token);
		}

		Busy busy() {
			long remaining = Math.max(1, (this.expiresAt - this.now) / 1000);
			return new Busy(remaining, Math.max(this.fencingToken, this.now - 1));
		}

	}

}
