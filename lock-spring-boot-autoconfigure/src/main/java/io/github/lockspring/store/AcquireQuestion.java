package io.github.lockspring.store;

import java.time.Duration;

/**
 * Asks for a lock.
 *
 * @param key the user's key
 * @param token the tenure's owner token
 * @param ttl length of the lease
 * @param look whether the token is to be queued if the lock is busy
 */
public record AcquireQuestion(String key, OwnerToken token, Duration ttl, Look look) {

	/**
	 * How a question treats the queue.
	 */
	public enum Look {

		/**
		 * The caller does not wait in the queue: a busy lock leaves nothing behind.
		 */
		ONCE,

		/**
		 * The first question that queues this token if the lock is busy.
		 */
		FIRST,

		/**
		 * A later question of a token that may stand in the queue.
		 */
		AGAIN

	}

}
