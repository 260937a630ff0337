package io.github.lockspring;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * Acquires locks in application code, as {@code @DistributedLock} does for annotated
 * methods. Thread-safe; an application has one.
 * <p>
 * Every request has one of these outcomes: the lock is held; it is busy
 * ({@link LockNotAcquiredException} or an empty result); the store is unavailable
 * ({@link LockUnavailableException}); the thread was interrupted
 * ({@link LockInterruptedException}, with the interrupt flag set again). The wait never
 * exceeds the request's wait time plus one command timeout of the store, except for the
 * first connection and for {@code asLock(key).lock()}.
 *
 * @since 0.1
 */
public interface LockTemplate {

	/**
	 * Runs work under a lock. Inside the work, a call of this method or of an annotated
	 * method with the same key re-enters the lock, without a round trip to the store.
	 * @param <T> the type of the result
	 * @param <X> the type of exception that the work may throw
	 * @param request the keys and their options
	 * @param work the work; it runs on this thread, at most once
	 * @return the result of the work
	 * @throws X the exception of the work; a failure of the lock is added to it as a
	 * suppressed exception
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 * @throws LockLostException if the lock was lost before the work returned; or,
	 * without running the work, if this call would re-enter a lock that is lost
	 */
	<T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work) throws X;

	/**
	 * Runs work without a result, as {@link #execute(LockRequest, LockCallback)}.
	 * @param <X> the type of exception that the work may throw
	 * @param request the keys and their options
	 * @param work the work
	 * @throws X the exception of the work
	 */
	default <X extends Throwable> void executeWithoutResult(LockRequest request, LockCallback.WithoutResult<X> work)
			throws X {
		this.<@Nullable Object, X>execute(request, (lock) -> {
			work.doUnderLock(lock);
			return null;
		});
	}

	/**
	 * Acquires a lock and returns the handle that releases it. A handle is never
	 * re-entered, not even by the same thread, since another thread may close it.
	 * @param request the keys and their options; {@link OnLost#INTERRUPT} is not allowed,
	 * since a handle is not bound to a thread
	 * @return the handle; close it
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	HeldLock acquire(LockRequest request);

	/**
	 * Acquires a lock as {@link #acquire(LockRequest)} does, but returns empty if it is
	 * busy.
	 * @param request the keys and their options
	 * @return the handle, or empty if the lock is busy
	 * @throws LockUnavailableException if the store cannot be reached
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	Optional<HeldLock> tryAcquire(LockRequest request);

	/**
	 * Returns the lock with this key as a {@link Lock}. It is renewed, and re-entrant per
	 * thread, also through different objects for the same key. Only the thread that
	 * locked it can unlock it; a thread that ends without unlocking loses the lock.
	 * {@code lock()} waits without limit while the store replies, and throws
	 * {@link LockUnavailableException} if the store has not replied for the default wait
	 * time. {@code unlock()} throws {@link LockLostException} if the lock was lost.
	 * {@code newCondition()} is not supported.
	 * @param key the key, without the store's prefix
	 * @return a stateless view
	 */
	Lock asLock(String key);

}
