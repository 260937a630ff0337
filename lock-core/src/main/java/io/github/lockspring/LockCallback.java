package io.github.lockspring;

import org.jspecify.annotations.Nullable;

/**
 * Work that runs under a lock.
 *
 * @param <T> the type of the result
 * @param <X> the type of exception that it may throw
 * @since 0.1
 */
@FunctionalInterface
public interface LockCallback<T extends @Nullable Object, X extends Throwable> {

	/**
	 * Does the work.
	 * @param lock the lock, held while this runs; do not close it
	 * @return the result
	 * @throws X what the work throws; it reaches the caller unchanged
	 */
	T doUnderLock(HeldLock lock) throws X;

	/**
	 * Work without a result that runs under a lock.
	 *
	 * @param <X> the type of exception that it may throw
	 * @since 0.1
	 */
	@FunctionalInterface
	interface WithoutResult<X extends Throwable> {

		/**
		 * Does the work.
		 * @param lock the lock, held while this runs; do not close it
		 * @throws X what the work throws; it reaches the caller unchanged
		 */
		void doUnderLock(HeldLock lock) throws X;

	}

}
