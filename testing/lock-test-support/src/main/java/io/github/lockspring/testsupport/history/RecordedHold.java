package io.github.lockspring.testsupport.history;

/**
 * One hold of one key as its holder wrote it down. Times are those of
 * {@link System#nanoTime()}, which all processes of the machine share.
 *
 * @param worker the process: workers that were started again have another name
 * @param number distinguishes the holds of a process
 * @param key the key
 * @param token the fencing token
 * @param asked before the lock was asked for
 * @param granted after it was granted
 * @param lease the longest lease that was asked for during the hold, in nanoseconds
 * @param until up to when the holder was sure to have the lock, see {@link EventLog};
 * before {@code granted} if it never was
 * @since 0.1
 */
public record RecordedHold(String worker, long number, String key, long token, long asked, long granted, long lease,
		long until) {

	/** Returns the same hold with another end. */
	public RecordedHold until(long until) {
		return new RecordedHold(this.worker, this.number, this.key, this.token, this.asked, this.granted, this.lease,
				until);
	}

	/** Returns the same hold with another lease. */
	public RecordedHold lease(long lease) {
		return new RecordedHold(this.worker, this.number, this.key, this.token, this.asked, this.granted, lease,
				this.until);
	}

	/** Returns whether the holder was ever sure to have the lock. */
	public boolean wasValid() {
		return this.until - this.granted >= 0;
	}

	boolean overlaps(RecordedHold other) {
		return this.granted < other.until && other.granted < this.until;
	}

}
