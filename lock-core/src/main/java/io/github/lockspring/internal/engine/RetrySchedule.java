package io.github.lockspring.internal.engine;

import java.time.Duration;
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

	/** An attempt that is not queued is repeated this often, with jitter. */
	private static final long MIN_POLL = 50_000_000;

	private static final long MAX_POLL = 500_000_000;

	private static final long MAX_JITTER = 20_000_000;

	private static final long MAX_PATIENCE = 100_000_000;

	/**
	 * Returns the longest time for the answer of an attempt: a little longer than the
	 * store may take, since the store knows best why there is none.
	 */
	long timeout(Duration ttl) {
		long timeout = Math.min(this.commandTimeout, ttl.toNanos() / 3);
		return timeout + Math.min(timeout / 4, MAX_PATIENCE);
	}

	/**
	 * Returns the time until the next attempt after one without an answer. One that is
	 * queued renews the token's place after a quarter of a grant: a grant is used only
	 * while half of it is left, counted from the last attempt.
	 * @param queued whether the store queues the token
	 * @param grant length of the lease that a hand-over gives
	 */
	long afterFailure(boolean queued, long grant) {
		return queued ? Math.min(MAX_INTERVAL, grant / 4) : this.random.get().nextLong(MIN_POLL, MAX_POLL);
	}

	/**
	 * Returns the time until the next attempt after one that found the lock busy.
	 * @param remaining time until the owner's lease ends
	 * @param queued whether the store queues the token
	 * @param grant length of the lease that a hand-over gives
	 */
	long afterBusy(long remaining, boolean queued, long grant) {
		return Math.min(afterFailure(queued, grant), remaining + this.random.get().nextLong(MAX_JITTER));
	}

	/**
	 * Returns when an answer has taken longer than answers usually take.
	 */
	long usuallyAnsweredBy(long sent) {
		return sent + this.commandTimeout / 4;
	}

}
