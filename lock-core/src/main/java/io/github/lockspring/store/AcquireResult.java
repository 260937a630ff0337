package io.github.lockspring.store;

/**
 * The answer to an {@link AcquireRequest}.
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
	 * Another owner has it.
	 *
	 * @param remainingMillis time until its lease ends unless renewed, or a negative
	 * number if it has no end
	 * @param lastFencingToken a number that no grant made before this answer exceeds, and
	 * every later one does
	 */
	record Busy(long remainingMillis, long lastFencingToken) implements AcquireResult {
	}

}
