package io.github.lockspring.internal.engine;

import io.github.lockspring.internal.engine.support.Time;

/**
 * The time for which the store has given the lock to this instance. Changes under the
 * monitor of the key's lock; the deadline may be read without it.
 */
final class Lease {

	private volatile long deadline;

	/** The length that the store gave last. */
	private long length;

	/** When the next renewal is to be tried, if one is needed at all. */
	private long renewAt;

	/** Whether it was lengthened by its holder. */
	private boolean extended;

	private int renewals;

	/**
	 * Starts a lease that was given by a request sent at the given time.
	 */
	Lease(long sent, long length) {
		start(sent, length);
	}

	private void start(long sent, long length) {
		this.deadline = RenewalPolicy.deadline(sent, length);
		this.length = length;
		this.renewAt = RenewalPolicy.renewAt(sent, length);
	}

	/**
	 * Applies a renewal; never shortens the lease.
	 */
	void lengthen(long sent, long length) {
		this.renewals++;
		if (RenewalPolicy.deadline(sent, length) - this.deadline > 0) {
			start(sent, length);
		}
		else {
			this.renewAt = RenewalPolicy.renewAt(sent, length);
		}
	}

	void retryRenewal(long now) {
		this.renewAt = RenewalPolicy.retryAt(now, this.length);
	}

	/** The next renewal is tried at the given time at the latest. */
	void renewBy(long time) {
		this.renewAt = Time.earlier(this.renewAt, time);
	}

	/**
	 * A renewal is under way. Whatever becomes of it, the next one is tried in time.
	 */
	void renewing(long now) {
		this.renewAt = RenewalPolicy.repeatAt(now, this.length);
	}

	/**
	 * Returns whether the next waiter may get the lock: it was not extended by its
	 * holder, and more than a third is left, which is enough to renew it in time.
	 */
	boolean mayBeHandedOff(long now) {
		return !this.extended && this.deadline - now > this.length / 3;
	}

	void extend() {
		this.extended = true;
	}

	int renewals() {
		return this.renewals;
	}

	long deadline() {
		return this.deadline;
	}

	long renewAt() {
		return this.renewAt;
	}

	long window() {
		return RenewalPolicy.window(this.length);
	}

}
