package io.github.lockspring.internal.engine;

import java.util.function.Supplier;
import java.util.random.RandomGenerator;

import io.github.lockspring.store.LockStore.AcquireRequest;

/**
 * Decides how long a waiting instance lets pass before its next acquire attempt. Values
 * in, a decision out; all times in nanoseconds.
 *
 * @param random spreads the attempts of several instances
 * @param commandTimeout longest time that a result takes
 */
record RetrySchedule(Supplier<RandomGenerator> random, long commandTimeout) {

	private static final long MAX_INTERVAL = AcquireRequest.LONGEST_INTERVAL.toNanos();

	/** Without messages an instance tries this often, with jitter. */
	private static final long MIN_POLL = 50_000_000;

	private static final long MAX_POLL = 500_000_000;

	/** A waiter does not poll before: a new inbox is usually confirmed by then. */
	static final long TIME_TO_OPEN_INBOX = 500_000_000;

	/** The same in the store's queue, where a hand-over gives it half a second. */
	private static final long MAX_QUEUED_POLL = 150_000_000;

	private static final long MAX_JITTER = 20_000_000;

	/**
	 * Returns the time between the attempts of an instance that receives messages.
	 * @param grant length of the lease that a hand-over gives
	 */
	static long interval(long grant) {
		return Math.min(MAX_INTERVAL, grant / 4);
	}

	/**
	 * Returns the time until the next attempt after one that failed.
	 */
	long afterFailure(boolean queued, long grant) {
		return queued ? interval(grant) : poll(MAX_POLL);
	}

	/**
	 * Returns the time until the next attempt after one that found the lock busy.
	 * @param remaining time until the owner's lease ends; negative if it has no end
	 * @param queued whether the store queues the token
	 * @param informed whether messages arrive
	 * @param grant length of the lease that a hand-over gives
	 */
	long afterBusy(long remaining, boolean queued, boolean informed, long grant) {
		long interval = afterFailure(queued, grant);
		if (queued && !informed) {
			interval = Math.min(interval, poll(MAX_QUEUED_POLL));
		}
		return (remaining < 0) ? interval : Math.min(interval, remaining + this.random.get().nextLong(MAX_JITTER));
	}

	/**
	 * Returns whether an attempt has been under way for longer than results usually take.
	 */
	boolean isSlow(long sent, long now) {
		return now - sent >= this.commandTimeout / 4;
	}

	private long poll(long max) {
		return this.random.get().nextLong(MIN_POLL, max);
	}

}
