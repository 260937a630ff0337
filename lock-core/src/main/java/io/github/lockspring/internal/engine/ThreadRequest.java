package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockRequest;

/**
 * Requests a lock that belongs to the thread that takes it: nobody else can release it.
 */
final class ThreadRequest extends LockRequest {

	private final boolean interruptible;

	private final boolean bounded;

	private ThreadRequest(LockRequest request, boolean interruptible, boolean bounded) {
		super(request, request.keys(), null);
		this.interruptible = interruptible;
		this.bounded = bounded;
	}

	/**
	 * Creates a request that ends after a wait.
	 * @param waitTime the wait; zero is one attempt, which ends by itself
	 */
	static ThreadRequest within(LockRequest request, Duration waitTime, boolean interruptible) {
		return new ThreadRequest(request.waitTime(waitTime), interruptible, true);
	}

	/**
	 * Creates a request that ends only if the store has not replied for the default wait
	 * time.
	 */
	static ThreadRequest unbounded(LockRequest request, boolean interruptible) {
		return new ThreadRequest(request, interruptible, false);
	}

	boolean isInterruptible() {
		return this.interruptible;
	}

	boolean isBounded() {
		return this.bounded;
	}

}
