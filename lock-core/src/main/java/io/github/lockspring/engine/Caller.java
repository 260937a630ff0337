package io.github.lockspring.engine;

import org.jspecify.annotations.Nullable;

/**
 * One thread that wants one key. Its changing fields are guarded by its entry's lock.
 */
final class Caller {

	final Terms terms;

	final Patience patience;

	final Thread thread = Thread.currentThread();

	/**
	 * Set when the lock is handed to this caller, which reads it without the entry's
	 * lock.
	 */
	volatile @Nullable Hold hold;

	/**
	 * Set when the entry has decided that this caller goes away.
	 */
	@Nullable Failure failure;

	/**
	 * Whether an interrupt arrived that this caller does not react to; for its own thread
	 * only.
	 */
	boolean interruptedMeanwhile;

	Caller(Terms terms, Patience patience) {
		this.terms = terms;
		this.patience = patience;
	}

	/**
	 * How a caller waits.
	 *
	 * @param until the time at which it gives up
	 * @param once whether it makes one attempt and never queues
	 * @param unavailableAfter how long the store may go without an answer, measured from
	 * the first failed look; {@link Time#FOREVER}: as long as the wait lasts
	 * @param interruptible whether an interrupt ends the wait
	 * @param deferred whether the hold's limits start later, when the other keys of the
	 * request are there too
	 */
	record Patience(long until, boolean once, long unavailableAfter, boolean interruptible, boolean deferred) {

	}

}
