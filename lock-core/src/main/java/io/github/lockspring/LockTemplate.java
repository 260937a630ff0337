package io.github.lockspring;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * Takes locks for programs, as {@code @DistributedLock} does for annotated methods.
 * Thread-safe; an application has one.
 * <p>
 * Every request has one of these outcomes: the lock is held; it is busy
 * ({@link LockNotAcquiredException} or an empty result); the store cannot be reached
 * ({@link LockUnavailableException}); the thread was interrupted
 * ({@link LockInterruptedException}, with the interrupt flag set again). The wait is
 * never longer than the request's wait time and one command timeout of the store.
 *
 * @since 0.1
 */
public interface LockTemplate {

	/**
	 * Runs work under a lock. Inside the work, the same key in the same call chain (this
	 * method, an annotated method) is re-entered without a round trip to the store.
	 * @param <T> what the work returns
	 * @param <X> what the work may throw
	 * @param request the keys and their options
	 * @param work the work; it runs on this thread, at most once
	 * @return what the work returned
	 * @throws X what the work threw; it wins over any trouble with the lock, which is
	 * added as a suppressed exception
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 * @throws LockLostException if the work ran and returned, but the lock was lost
	 * before; or if the call chain's own lock, which this call would re-enter, is lost:
	 * the work then did not run
	 */
	<T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work) throws X;

	/**
	 * Runs work without a result, as {@link #execute(LockRequest, LockCallback)}.
	 * @param <X> what the work may throw
	 * @param request the keys and their options
	 * @param work the work
	 * @throws X what the work threw
	 */
	default <X extends Throwable> void executeWithoutResult(LockRequest request, LockCallback.WithoutResult<X> work)
			throws X {
		this.<@Nullable Object, X>execute(request, (lock) -> {
			work.doUnderLock(lock);
			return null;
		});
	}

	/**
	 * Takes a lock and returns the handle that releases it. A handle is never re-entered,
	 * not even by the same thread, since it may be closed on another one.
	 * @param request the keys and their options; not with {@link OnLost#INTERRUPT}, since
	 * a handle has no thread
	 * @return the handle; close it
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	HeldLock acquire(LockRequest request);

	/**
	 * Takes a lock, as {@link #acquire(LockRequest)}, with an empty result when it is
	 * busy.
	 * @param request the keys and their options
	 * @return the handle, or empty if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	Optional<HeldLock> tryAcquire(LockRequest request);

	/**
	 * Returns the lock with this key as a {@link Lock}: renewed, re-entrant per thread
	 * (also through different objects for the same key), unlocked only by the thread that
	 * locked it. {@code lock()} waits without a bound while the store replies, and throws
	 * {@link LockUnavailableException} once it has not replied for the default wait time;
	 * {@code unlock()} throws {@link LockLostException} if the lock was lost;
	 * {@code newCondition()} is unsupported. A thread that ends without unlocking loses
	 * the lock.
	 * @param key the key, without the store's prefix
	 * @return a stateless view
	 */
	Lock asLock(String key);

}
