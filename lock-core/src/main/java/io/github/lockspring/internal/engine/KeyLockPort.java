package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.KeyState.Asking;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore.AcquireRequest;

/**
 * The environment of a {@link KeyLock}. Its questions and registrations run under the
 * lock's monitor: they send nothing, enter no key's monitor and call no listener. Its
 * effects run outside of every monitor.
 */
interface KeyLockPort {

	// questions

	/** Whether new waiting is refused, since the application stops. */
	boolean isClosing();

	/** Whether the engine has stopped. */
	boolean isStopped();

	/** Whether the store queues waiters. */
	boolean hasQueue();

	/** Whether messages of other instances arrive. */
	boolean isInformed();

	/** Whether the store carries out the requests for one key in their order. */
	boolean isOrdered();

	/** The length of the lease to request for a ttl: what the store can give at once. */
	Duration lease(Duration ttl);

	/**
	 * Where a release is registered before its claim is dropped, inside the event, and
	 * sent as an effect.
	 */
	Releases releases();

	/** The events, and whether they are recorded. */
	LockEvents events();

	// registrations

	/** Records an unanswered attempt and returns the exception for it. */
	LockUnavailableException noteUnanswered(AcquireRequest request);

	/**
	 * Makes a claim with a token of its own.
	 */
	Claim newClaim(int grantMillis, long now);

	/**
	 * Registers an attempt that is under way at the stop: its answer may bring a lock,
	 * which is to be released.
	 */
	void stoppedAsking(Asking attempt);

	/**
	 * Drops a lock that has neither waiters nor a state.
	 */
	void drop(KeyLock lock);

	/**
	 * Registers that something of the lock is due, perhaps earlier than all else.
	 */
	void due(long at);

	// effects

	/**
	 * Sends an attempt.
	 * @param mayBlock whether the driver may block the present thread
	 */
	void send(Asking attempt, boolean mayBlock);

	/**
	 * Opens the inbox: a waiter waits for others, so messages are needed.
	 */
	void openInbox();

	/**
	 * Reports a loss, and interrupts the thread that works under the lock if that is
	 * wanted.
	 */
	void lost(Held hold, Cause cause, long now);

}
