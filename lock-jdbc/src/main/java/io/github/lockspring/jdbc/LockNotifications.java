package io.github.lockspring.jdbc;

import io.github.lockspring.store.OwnerToken;

/**
 * Notifies other instances through the database. Notifications are hints: a failure to
 * send one is no failure of the request. Implementations are immutable.
 */
interface LockNotifications {

	/** For databases that cannot notify. */
	LockNotifications NONE = new LockNotifications() {

		@Override
		public void granted(JdbcCall call, String row, OwnerToken token, long fencingToken, boolean othersWait) {
			// the instance polls
		}

		@Override
		public void wanted(JdbcCall call, String row, OwnerToken owner) {
			// the instance assumes it
		}

	};

	/**
	 * Notifies an instance that a lock was handed over to it.
	 */
	void granted(JdbcCall call, String row, OwnerToken token, long fencingToken, boolean othersWait);

	/**
	 * Notifies an instance that others wait for a lock that it owns.
	 */
	void wanted(JdbcCall call, String row, OwnerToken owner);

}
