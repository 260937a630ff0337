package io.github.lockspring.store;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * The result of an {@link AcquireRequest}.
 *
 * @since 0.1
 */
public sealed interface AcquireResult {

	/**
	 * The token owns the lock.
	 *
	 * @param fencingToken the fencing token, larger than all earlier ones of the key
	 * @param alreadyOwned whether the token owned the lock before this request
	 * @param granted length of the lease, counted from before the request was sent, where
	 * it is not the requested one; null if it is
	 */
	record Acquired(long fencingToken, boolean alreadyOwned, @Nullable Duration granted) implements AcquireResult {

		/**
		 * Creates the result of a request that was given the lease that it asked for.
		 * @param fencingToken the fencing token
		 * @param alreadyOwned whether the token owned the lock before
		 */
		public Acquired(long fencingToken, boolean alreadyOwned) {
			this(fencingToken, alreadyOwned, null);
		}

		/**
		 * Creates the result of a request that found the lock free.
		 * @param fencingToken the fencing token
		 */
		public Acquired(long fencingToken) {
			this(fencingToken, false);
		}

		/**
		 * Returns the length of the lease.
		 * @param request the request
		 * @return what was granted, which may be shorter or longer than what was
		 * requested
		 */
		public Duration lease(AcquireRequest request) {
			return (this.granted != null) ? this.granted : request.ttl();
		}

	}

	/**
	 * Another owner holds the lock.
	 *
	 * @param remainingMillis milliseconds until its lease ends unless it is renewed;
	 * negative if it never ends. For a token in a queue it may be the lease of the one
	 * before it
	 * @param lastFencingToken a number that is at least as large as the fencing token of
	 * every grant before this result, and smaller than that of every later one
	 * @param newInQueue whether this request put the token into the queue; false if it
	 * was in the queue before, or is not queued
	 */
	record Busy(long remainingMillis, long lastFencingToken, boolean newInQueue) implements AcquireResult {

		/**
		 * Creates the result of a request that did not change the queue.
		 * @param remainingMillis milliseconds until the owner's lease ends
		 * @param lastFencingToken the last fencing token
		 */
		public Busy(long remainingMillis, long lastFencingToken) {
			this(remainingMillis, lastFencingToken, false);
		}

	}

}
