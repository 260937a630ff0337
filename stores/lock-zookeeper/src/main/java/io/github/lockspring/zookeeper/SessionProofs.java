package io.github.lockspring.zookeeper;

import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Computes how long a session is proven to last, from the times at which writes were sent
 * that have an answer. Thread-safe.
 * <p>
 * A write does not extend a session. The server that the client is connected to does,
 * when it reports to the leader, at least each third of the timeout; and it may die with
 * what it has not reported. So the last write proves only a sixth of the timeout T. Two
 * writes that are at least T/3 apart have a report between them, so the earlier one
 * proves 5/6 of T. With a write at each twelfth, the session is proven for T/3 at any
 * time.
 */
/*
 * For maintainers: checked as rule PROOFS_ARE_APART (Z7) of the model of the protocol. It
 * is never more than T/2 from the last write, since the earlier one is T/3 older.
 */
final class SessionProofs {

	/** Writes that are closer together count as the earlier one, which proves less. */
	private static final int RESOLUTION = 48;

	private final Deque<Long> apart = new ArrayDeque<>();

	private long last;

	/**
	 * Records a write that was answered.
	 * @param sent when it was sent
	 * @param timeout the timeout of the session, in the unit of the times
	 */
	synchronized void add(long sent, long timeout) {
		if (this.apart.isEmpty() || sent - this.last > 0) {
			this.last = sent;
		}
		if (this.apart.isEmpty() || sent - this.apart.getLast() >= timeout / RESOLUTION) {
			this.apart.addLast(sent);
			forgetOlder(sent, timeout);
		}
	}

	/** Keeps one that is old enough, for as long as no later one is. */
	private void forgetOlder(long sent, long timeout) {
		while (this.apart.size() > 1) {
			long first = this.apart.removeFirst();
			if (sent - this.apart.getFirst() < timeout / 3) {
				this.apart.addFirst(first);
				return;
			}
		}
	}

	/**
	 * Returns the time until which the session is proven to last.
	 * @param now the present time, which is the result before the first write
	 * @param timeout the timeout of the session
	 */
	synchronized long validUntil(long now, long timeout) {
		return this.apart.isEmpty() ? now : provenBy(this.last, timeout);
	}

	/**
	 * Returns the time until which the session will be proven to last if a write that is
	 * sent now is answered.
	 * @param now the present time
	 * @param timeout the timeout of the session
	 */
	synchronized long validAfter(long now, long timeout) {
		return provenBy(now, timeout);
	}

	private long provenBy(long write, long timeout) {
		long until = write + timeout / 6;
		for (long earlier : this.apart) {
			if (write - earlier >= timeout / 3 && earlier + timeout / 6 * 5 - until > 0) {
				until = earlier + timeout / 6 * 5;
			}
		}
		return until;
	}

	/**
	 * Returns whether no write was sent since the given time.
	 */
	synchronized boolean isIdleSince(long time) {
		return this.apart.isEmpty() || this.last - time < 0;
	}

}
