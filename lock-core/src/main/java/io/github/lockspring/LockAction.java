package io.github.lockspring;

/**
 * Work without a result that runs under a lock.
 *
 * @param <X> what it may throw
 * @since 0.1
 */
@FunctionalInterface
public interface LockAction<X extends Throwable> {

	/**
	 * Does the work.
	 * @param lock the lock, held while this runs; do not close it
	 * @throws X what the work throws; it reaches the caller unchanged
	 */
	void doUnderLock(HeldLock lock) throws X;

}
