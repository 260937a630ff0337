package io.github.lockspring.jdbc;

import java.sql.ResultSet;
import java.sql.SQLException;

import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.OwnerToken;

/**
 * The row of a lock.
 *
 * @param owner the owner
 * @param fencingToken the last fencing token
 * @param expiresAt the end of the lease, in microseconds of the server's clock
 * @param queuedAt the last time at which a waiter joined or left; 0 for no waiters
 * @param now the server's clock when the row was read
 */
record LockRow(String owner, long fencingToken, long expiresAt, long queuedAt, long now) {

	/** The owner of a free lock, which is not a token. */
	static final String NO_OWNER = "-";

	/**
	 * Returns the columns in the order of {@link #of(ResultSet)}.
	 * @param now the expression for the server's clock
	 */
	static String columns(String now) {
		return "l.owner, l.fencing_token, l.expires_at, l.queued_at, " + now;
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

	/**
	 * The result of an attempt that has found this row, if no hand-over that was decided
	 * before can take place any more.
	 */
	Busy busy() {
		return busy(this.fencingToken);
	}

	/**
	 * The result of an attempt that has found this row and changed nothing in it. The
	 * token of a hand-over that was decided before is not larger than the number in the
	 * result, even if the clock of the server was set back: its lease would end too
	 * early.
	 */
	Busy stillBusy() {
		return busy(this.fencingToken + OwnerToken.MAX_FENCING_TOKENS);
	}

	private Busy busy(long lastFencingToken) {
		long remaining = Math.max(1, (this.expiresAt - this.now) / 1000);
		return new Busy(remaining, Math.max(lastFencingToken, this.now - 1));
	}

}
