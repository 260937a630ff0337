package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.internal.engine.support.Time;

import static org.assertj.core.api.Assertions.fail;

/**
 * Time that stands still until a test moves it. It begins shortly before nanoTime
 * overflows, so that every test crosses that point.
 */
public final class FakeTime implements Time {

	private final Set<Thread> permits = new HashSet<>();

	private final Map<Thread, Long> parked = new HashMap<>();

	private final ThreadLocal<Long> seen = new ThreadLocal<>();

	private volatile long now = Long.MAX_VALUE - Duration.ofSeconds(2).toNanos();

	/** The time that wakes threads which sleep already. Guarded by the monitor. */
	private long noticed = this.now;

	private final AtomicReference<Runnable> afterReading = new AtomicReference<>();

	@Override
	public long nanoTime() {
		long present = this.now;
		this.seen.set(present);
		Runnable interruption = this.afterReading.getAndSet(null);
		if (interruption != null) {
			interruption.run();
		}
		return present;
	}

	@Override
	public synchronized void park(Object blocker, long nanos) {
		Thread thread = Thread.currentThread();
		try {
			// from the time that the thread has seen: a test may have moved it since
			Long seen = this.seen.get();
			long until = ((seen != null) ? seen : this.now) + nanos;
			long present = this.now;
			this.parked.put(thread, until);
			notifyAll();
			while (!this.permits.remove(thread) && present - until < 0 && !thread.isInterrupted()) {
				wait();
				// a thread that is woken because another one parks must not see what was
				// to pass unnoticed
				present = this.noticed;
			}
		}
		catch (InterruptedException ex) {
			thread.interrupt();
		}
		finally {
			this.parked.remove(thread);
		}
	}

	@Override
	public synchronized void unpark(Thread thread) {
		this.permits.add(thread);
		notifyAll();
	}

	public synchronized void advance(Duration duration) {
		this.now += duration.toNanos();
		this.noticed = this.now;
		notifyAll();
	}

	/** Something happens between the next reading of the time and what it is used for. */
	void afterReading(Runnable interruption) {
		this.afterReading.set(interruption);
	}

	/** Time passes while no thread gets to run. */
	synchronized void advanceUnnoticed(Duration duration) {
		this.now += duration.toNanos();
	}

	/**
	 * Waits, in real time, until a thread is parked with nothing to do before the time
	 * moves.
	 * @return how long it will sleep
	 */
	synchronized Duration awaitParked(Thread thread) {
		try {
			long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
			while (System.nanoTime() - end < 0) {
				Long until = this.parked.get(thread);
				if (until != null && !this.permits.contains(thread) && until - this.now > 0) {
					return Duration.ofNanos(until - this.now);
				}
				wait(20);
			}
			return fail(thread + " does not park");
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
