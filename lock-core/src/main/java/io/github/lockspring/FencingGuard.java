package io.github.lockspring;

/**
 * Guards a resource as the last line of defence. Remembers the highest fencing token it
 * has seen and rejects work under an older one, even if the process doing the work
 * believes that it holds the lock. Thread-safe.
 * <p>
 * {@link Fenced} methods call it automatically. Other code calls it at the start of its
 * work, before reading the data to change:
 *
 * <pre class="code">
 * locks.execute(LockRequest.of("order", 42), (lock) -&gt; transactions.execute((status) -&gt; {
 *     guard.check(lock);
 *     return ship(42);
 * }));</pre>
 *
 * If rows of your own table are only ever replaced as a whole, a condition in each
 * writing statement is enough:
 * {@code UPDATE orders SET …, fencing_token = ? WHERE id = ? AND fencing_token <= ?},
 * followed by a check of the row count. This orders the writes but does not protect a
 * read-modify-write: an earlier holder may still write between the read and the write.
 *
 * @see StaleFencingTokenException
 * @since 0.1
 */
public interface FencingGuard {

	/**
	 * Rejects a token that is older than the highest one seen; otherwise remembers it as
	 * the highest. Call it at the start of the work, in its transaction. The call of a
	 * later holder waits until that transaction has ended.
	 * @param resource the resource to protect, usually the lock's key
	 * @param token the fencing token, positive
	 * @throws StaleFencingTokenException if a later one was seen
	 * @throws IllegalStateException if there is no transaction, or if a suspended
	 * transaction of this thread has locked the same resource
	 */
	void check(String resource, long token);

	/**
	 * Checks each key of a lock, in order.
	 * @param lock the lock
	 * @throws StaleFencingTokenException if a later token was seen for a key
	 * @throws IllegalStateException as for {@link #check(String, long)}
	 */
	default void check(HeldLock lock) {
		lock.keys().forEach((key) -> check(key, lock.fencingToken(key)));
	}

}
