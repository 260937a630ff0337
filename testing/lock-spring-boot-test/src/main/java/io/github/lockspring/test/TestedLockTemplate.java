package io.github.lockspring.test;

import java.util.Optional;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.jspecify.annotations.Nullable;

/**
 * A template that reports its requests to a {@link LockTester} and simulates failures.
 *
 * @param delegate acquires the locks
 * @param tester the tester
 */
record TestedLockTemplate(LockTemplate delegate, LockTester tester) implements LockTemplate {

	@Override
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		this.tester.beforeRequest(request);
		return this.delegate.execute(request, (lock) -> {
			this.tester.acquired(request);
			return work.doUnderLock(lock);
		});
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		this.tester.beforeRequest(request);
		HeldLock lock = this.delegate.acquire(request);
		this.tester.acquired(request);
		return lock;
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		try {
			this.tester.beforeRequest(request);
		}
		catch (LockNotAcquiredException ex) {
			return Optional.empty();
		}
		Optional<HeldLock> lock = this.delegate.tryAcquire(request);
		lock.ifPresent((acquired) -> this.tester.acquired(request));
		return lock;
	}

	@Override
	public Lock asLock(String key) {
		return this.delegate.asLock(key);
	}

}
