package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * What a {@link KeyLock} needs from outside. Nothing here blocks or calls back.
 */
interface KeyLockPort {

	/**
	 * Makes a new ownership with a token of its own.
	 */
	Ownership newOwnership(KeyLock lock, int grantMillis);

	/**
	 * Knows a token until its release in the background has a result, also if the lock
	 * drops the ownership before: no message about it is answered with a release.
	 */
	void releasing(OwnerToken token);

	/**
	 * Drops a lock that has neither waiters nor an ownership.
	 */
	void retire(KeyLock lock);

	/**
	 * Releases in the background. Called without the lock's monitor.
	 * @param request the request
	 * @param lock is told by {@link KeyLock#released}, or null
	 * @param expectsMessage whether a message should have arrived if the token turns out
	 * to own the lock
	 */
	void release(ReleaseRequest request, @Nullable KeyLock lock, boolean expectsMessage);

	/**
	 * The lock is to be looked at, perhaps earlier than all others.
	 */
	void due(long at);

	/**
	 * Reports a renewal that has a result or failed. Called without the lock's monitor.
	 * @param left time that was left of the lease before it counted, in nanoseconds
	 */
	void renewed(Hold hold, RenewResult result, long left);

	/**
	 * Reports a loss, and interrupts the thread that works under the lock if that is
	 * wanted. Called without the lock's monitor.
	 */
	void lost(Hold hold, Cause cause, long now);

	/** Whether new waiting is refused, since the application stops. */
	boolean isClosing();

	/** Whether the engine has stopped. */
	boolean isStopped();

	/** Whether the store queues waiters. */
	boolean hasQueue();

	/** The length of the lease to request for a ttl: what the store can give at once. */
	Duration lease(Duration ttl);

	/** Whether messages of other instances arrive. */
	boolean isInformed();

	void openInbox();

	/** Messages may have been lost: find out whether they arrive. */
	void probeInbox();

}
