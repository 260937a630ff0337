package io.github.lockspring.internal.base;

import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

/**
 * The monotonic clock of the JVM, plus the time for which the machine was suspended.
 * Thread-safe.
 *
 * @since 0.1
 */
/*
 * For maintainers: on some machines `System.nanoTime()` does not run on while they are
 * suspended, and a lease would seem as fresh as before. The wall clock does run on, or is
 * set when the machine resumes. So whenever the wall clock has gone ahead of the
 * monotonic clock by more than any adjustment of it in small steps, the difference is
 * added for good. A wall clock that is set forward has the same effect: leases end too
 * early, which is safe. One that goes back has none, so correctness never depends on it.
 *
 * The two clocks are read one after the other. A thread that is paused in between sees a
 * difference that does not exist, so a difference counts only if the two were read again,
 * with the monotonic clock on both sides, and did not take long.
 */
public final class MonotonicClock implements LongSupplier {

	/** The clock of the JVM, which counts the time of suspensions. */
	public static final MonotonicClock SYSTEM = new MonotonicClock(System::nanoTime, System::currentTimeMillis);

	private static final long NANOS_PER_MILLI = 1_000_000;

	/** Smaller differences are adjustments of the wall clock, or of its resolution. */
	private static final long MIN_SUSPENSION_NANOS = 100 * NANOS_PER_MILLI;

	private static final long MAX_READING_NANOS = 5 * NANOS_PER_MILLI;

	/** How often small differences are forgotten. */
	private static final long FORGET_NANOS = 1_000 * NANOS_PER_MILLI;

	/**
	 * A reading of the clocks.
	 *
	 * @param at the monotonic clock when it was seen
	 * @param ahead by how much the wall clock was ahead of it
	 * @param suspended the time of all suspensions
	 */
	private record Seen(long at, long ahead, long suspended) {
	}

	private final LongSupplier monotonicNanos;

	private final LongSupplier wallMillis;

	private final AtomicReference<Seen> seen;

	/**
	 * Creates a clock.
	 * @param monotonicNanos the monotonic clock, in nanoseconds
	 * @param wallMillis the wall clock, in milliseconds
	 */
	public MonotonicClock(LongSupplier monotonicNanos, LongSupplier wallMillis) {
		this.monotonicNanos = monotonicNanos;
		this.wallMillis = wallMillis;
		long now = monotonicNanos.getAsLong();
		this.seen = new AtomicReference<>(new Seen(now, wallMillis.getAsLong() * NANOS_PER_MILLI - now, 0));
	}

	/**
	 * Returns the present time.
	 * @return nanoseconds since an arbitrary moment
	 */
	@Override
	public long getAsLong() {
		Seen before = this.seen.get();
		long now = this.monotonicNanos.getAsLong();
		long jump = this.wallMillis.getAsLong() * NANOS_PER_MILLI - now - before.ahead;
		boolean same = Math.abs(jump) <= MIN_SUSPENSION_NANOS && now - before.at <= FORGET_NANOS;
		return same ? now + before.suspended : compareClocks(before);
	}

	private long compareClocks(Seen before) {
		long start = this.monotonicNanos.getAsLong();
		long ahead = this.wallMillis.getAsLong() * NANOS_PER_MILLI - start;
		long now = this.monotonicNanos.getAsLong();
		if (now - start > MAX_READING_NANOS) {
			return now + before.suspended;
		}
		long jump = ahead - before.ahead;
		if (jump > MIN_SUSPENSION_NANOS) {
			return now + add(before, now, ahead, jump);
		}
		this.seen.compareAndSet(before, new Seen(now, ahead, before.suspended));
		return now + before.suspended;
	}

	/** Another thread may have seen the same suspension. */
	private long add(Seen before, long now, long ahead, long jump) {
		Seen after = new Seen(now, ahead, before.suspended + jump);
		return (this.seen.compareAndSet(before, after) ? after : this.seen.get()).suspended;
	}

}
