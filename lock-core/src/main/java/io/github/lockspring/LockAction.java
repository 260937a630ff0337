package io.github.lockspring;

/**
 * Work without a result that runs under a lock.
 *
 * @param <X> what it may throw
 */
@FunctionalInterface
public interface LockAction<X extends Throwable> {

	/**
	 * Does the work.
	 * @param lock the lock, held while this runs; do not close it
	 * @throws X what the work throws; it reaches the caller as it is
	 */
	void doUnderLock(HeldLock lock) throws X;

}
