package io.github.lockspring.store;

import java.time.Duration;

/**
 * Requests a lock from a {@link LockStore}.
 *
 * @param key the user's key
 * @param token the owner token of the ownership that is to begin
 * @param ttl length of the lease
 * @param queueMode whether the token joins the store's queue if the lock is busy
 * @since 0.1
 */
public record AcquireRequest(String key, OwnerToken token, Duration ttl, QueueMode queueMode) {

	/**
	 * How a request treats the queue of waiters.
	 *
	 * @since 0.1
	 */
	public enum QueueMode {

		/**
		 * Does not queue: a busy lock leaves nothing behind in the store.
		 */
		NONE,

		/**
		 * Queues the token for the first time if the lock is busy.
		 */
		JOIN,

		/**
		 * Queues the token again if the lock is busy; it may be in the queue already.
		 */
		REJOIN

	}

}
