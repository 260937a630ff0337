package io.github.lockspring.internal.engine;

/**
 * Whether other instances wait for a lock that this one wants or owns, and since when,
 * for {@link LocalHandoff}. Changes under the monitor of the key's lock.
 */
final class Contention {

	/** Whether another instance is known to wait. */
	private boolean noticed;

	/** Since when another instance waits, or may wait without this one knowing. */
	private long since;

	Contention(long now) {
		this.since = now;
	}

	/** Another instance waits, or has waited already. Counts from the first time. */
	void notice(long now) {
		if (!this.noticed) {
			this.noticed = true;
			this.since = now;
		}
	}

	/**
	 * This instance owns the lock from now on: it does not share it longer with others
	 * than from now, also if they have waited before.
	 */
	void owned(long now) {
		this.since = now;
	}

	/**
	 * Returns for how long another instance may have waited; negative if none does.
	 * @param informed whether messages reach this instance; otherwise it must assume one
	 */
	long nanos(boolean informed, long now) {
		return (this.noticed || !informed) ? now - this.since : -1;
	}

}
