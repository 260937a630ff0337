package io.github.lockspring.store;

/**
 * The result of an {@link AcquireRequest}.
 *
 * @since 0.1
 */
public sealed interface AcquireResult {

	/**
	 * The token owns the lock.
	 *
	 * @param fencingToken the fencing token, larger than all earlier ones of the key
	 */
	record Acquired(long fencingToken) implements AcquireResult {
	}

	/**
	 * Another owner holds the lock.
	 *
	 * @param remainingMillis milliseconds until its lease ends unless it is renewed;
	 * negative if it never ends
	 * @param lastFencingToken a number that is at least as large as the fencing token of
	 * every grant before this result, and smaller than that of every later one
	 */
	record Busy(long remainingMillis, long lastFencingToken) implements AcquireResult {
	}

}
