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
		REJOIN,

		/**
		 * Queues the token, if the lock is busy, as one that polls: no message reaches
		 * it, and it learns from a later request of this kind that the lock was handed
		 * over to it. Its turn comes a second later than that of a token that joins at
		 * the same time, and the lease that a hand-over gives it lasts half a second at
		 * most.
		 */
		POLL

	}

}
