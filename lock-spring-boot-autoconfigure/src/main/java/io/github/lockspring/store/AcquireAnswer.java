package io.github.lockspring.store;

/**
 * The answer to an {@link AcquireQuestion}.
 */
public sealed interface AcquireAnswer {

	/**
	 * The token owns the lock.
	 *
	 * @param fence the fencing token, larger than all earlier ones of the key
	 */
	record Acquired(long fence) implements AcquireAnswer {
	}

	/**
	 * Another owner has it.
	 *
	 * @param remainingMillis time until its lease ends unless renewed, or a negative
	 * number if it has no end
	 * @param fenceSeen a number that no grant made before this answer exceeds, and every
	 * later one does
	 */
	record Busy(long remainingMillis, long fenceSeen) implements AcquireAnswer {
	}

}
