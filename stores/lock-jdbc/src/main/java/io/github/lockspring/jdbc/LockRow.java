package io.github.lockspring.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.github.lockspring.store.LockStore.AcquireResult.Busy;

/**
 * The row of a lock.
 *
 * @param owner the owner
 * @param fencingToken the last fencing token
 * @param expiresAt the end of the lease, in microseconds of the server's clock
 * @param queuedUntil the time until which a release looks for waiters; changed by each
 * attempt of a waiter
 * @param now the server's clock when the row was read
 */
record LockRow(String owner, long fencingToken, long expiresAt, long queuedUntil, long now) {

	/** The owner of a free lock. Not empty, since Oracle treats empty text as null. */
	static final String NO_OWNER = "-";

	/**
	 * Returns the columns in the order of {@link #of(ResultSet)}.
	 * @param now the expression for the server's clock
	 */
	static String columns(String now) {
		return "l.owner, l.fencing_token, l.expires_at, l.queued_until, " + now;
	}

	static LockRow of(ResultSet result) throws SQLException {
		return new LockRow(result.getString(1), result.getLong(2), result.getLong(3), result.getLong(4),
				result.getLong(5));
	}

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
