package io.github.lockspring.fencing;

import io.github.lockspring.HeldLock;

/**
 * Makes a resource the last line of defence: it remembers the highest fencing token that
 * it has seen, and refuses work under an older one. Thread-safe.
 */
public interface FencingGuard {

	/**
	 * Compares a token with the highest one seen, which it becomes unless it is older.
	 * Called at the start of the work, in its transaction; no later holder can get past
	 * this before that transaction has ended.
	 * @param resource what is protected, usually the lock's key
	 * @param token the fencing token, positive
	 * @throws StaleFencingTokenException if a later one was seen
	 * @throws IllegalStateException if there is no transaction, or if one that is
	 * suspended on this thread has locked the same resource and would be waited for
	 */
	void check(String resource, long token);

	/**
	 * Checks each key of a lock, in their order.
	 * @param lock the lock
	 * @throws StaleFencingTokenException if a later token was seen for a key
	 * @throws IllegalStateException as for {@link #check(String, long)}
	 */
	default void check(HeldLock lock) {
		lock.locks().forEach((each) -> check(each.key(), each.fencingToken()));
	}

}
