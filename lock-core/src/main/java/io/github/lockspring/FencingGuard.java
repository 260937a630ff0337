package io.github.lockspring;

/**
 * Guards a resource as the last line of defence. Remembers the highest fencing token that
 * it has seen, and refuses work under an older one, even if the process that does the
 * work believes that it holds the lock. Thread-safe.
 * <p>
 * {@link Fenced} calls it for annotated methods. A program calls it at the start of its
 * work, before it reads what it is going to change:
 *
 * <pre class="code">
 * locks.execute(LockRequest.of("order", 42), (lock) -&gt; transactions.execute((status) -&gt; {
 *     guard.check(lock);
 *     return ship(42);
 * }));</pre>
 *
 * A table of one's own whose rows are only ever replaced may do with less: {@code UPDATE
 * orders SET …, fencing_token = ? WHERE id = ? AND fencing_token <= ?} in every statement
 * that writes, and a check of the number of rows. That orders the writes, but does not
 * protect what is read, changed and written: an earlier holder may still write between
 * the two.
 *
 * @see StaleFencingTokenException
 * @since 0.1
 */
public interface FencingGuard {

	/**
	 * Compares a token with the highest one seen, which it becomes unless it is older. To
	 * be called at the start of the work, in its transaction; the call of a later holder
	 * waits until that transaction has ended.
	 * @param resource the resource to protect, usually the lock's key
	 * @param token the fencing token, positive
	 * @throws StaleFencingTokenException if a later one was seen
	 * @throws IllegalStateException if there is no transaction, or if one that is
	 * suspended on this thread has locked the same resource
	 */
	void check(String resource, long token);

	/**
	 * Checks each key of a lock, in their order.
	 * @param lock the lock
	 * @throws StaleFencingTokenException if a later token was seen for a key
	 * @throws IllegalStateException as for {@link #check(String, long)}
	 */
	default void check(HeldLock lock) {
		lock.keys().forEach((key) -> check(key, lock.fencingToken(key)));
	}

}
