package io.github.lockspring;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

import org.jspecify.annotations.Nullable;

/**
 * Takes locks for programs, as {@code @DistributedLock} does for annotated methods.
 * Thread-safe; an application has one.
 * <p>
 * Every way of taking a lock ends in one of these: it is held; it is busy
 * ({@link LockNotAcquiredException} or an empty result); the store cannot be asked
 * ({@link LockUnavailableException}); the thread was interrupted
 * ({@link LockInterruptedException}, with the interrupt flag set again). The wait is
 * never longer than the request's wait time and one command timeout of the store.
 */
public interface LockTemplate {

	/**
	 * Runs work under a lock. Inside the work, the same key in the same call chain (this
	 * method, an annotated method) is re-entered without asking the store.
	 * @param <T> what the work returns
	 * @param <X> what the work may throw
	 * @param request what to lock
	 * @param work the work; it runs on this thread, once, or not at all
	 * @return what the work returned
	 * @throws X what the work threw; it wins over any trouble with the lock, which is
	 * added as a suppressed exception
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be asked
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 * @throws LockLostException if the work ran and returned, but the lock was lost
	 * before, unless the request says {@link OnLost#NOTIFY}; or if the call chain's own
	 * lock, which this call would re-enter, is lost: the work then did not run
	 */
	<T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work) throws X;

	/**
	 * As {@link #execute(LockRequest, LockCallback)}, for work without a result.
	 * @param <X> what the work may throw
	 * @param request what to lock
	 * @param work the work
	 * @throws X what the work threw
	 */
	default <X extends Throwable> void executeWithoutResult(LockRequest request, LockAction<X> work) throws X {
		this.<@Nullable Object, X>execute(request, (lock) -> {
			work.doUnderLock(lock);
			return null;
		});
	}

	/**
	 * Takes a lock and gives the handle that gives it back. A handle is never re-entered,
	 * not even by the same thread: it may be closed on another one.
	 * @param request what to lock; not with {@link OnLost#INTERRUPT}, since a handle has
	 * no thread
	 * @return the handle; close it
	 * @throws LockNotAcquiredException if the lock is busy
	 * @throws LockUnavailableException if the store cannot be asked
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	HeldLock acquire(LockRequest request);

	/**
	 * As {@link #acquire(LockRequest)}, with an empty result when the lock is busy.
	 * @param request what to lock
	 * @return the handle, or empty if the lock is busy
	 * @throws LockUnavailableException if the store cannot be asked
	 * @throws LockInterruptedException if the thread was interrupted while waiting
	 */
	Optional<HeldLock> tryAcquire(LockRequest request);

	/**
	 * The lock with this key as a {@link Lock}: renewed, re-entrant per thread (also
	 * through different objects for the same key), unlocked only by the thread that
	 * locked it. {@code lock()} waits without a bound while the store answers, and throws
	 * {@link LockUnavailableException} once it has not answered for the default wait
	 * time; {@code unlock()} throws {@link LockLostException} if the lock was lost;
	 * {@code newCondition()} is unsupported.
	 * @param key the key, without the store's prefix
	 * @return a view without a state of its own
	 */
	Lock asLock(String key);

}
