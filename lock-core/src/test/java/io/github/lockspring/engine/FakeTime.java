package io.github.lockspring.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.github.lockspring.engine.support.Time;

import static org.assertj.core.api.Assertions.fail;

/**
 * Time that stands still until a test moves it. It begins shortly before nanoTime
 * overflows, so that every test crosses that point.
 */
final class FakeTime implements Time {

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private final Set<Thread> permits = new HashSet<>();

	private final Map<Thread, Long> parked = new HashMap<>();

	private final ThreadLocal<Long> seen = new ThreadLocal<>();

	private volatile long now = Long.MAX_VALUE - Duration.ofSeconds(2).toNanos();

	/** The time that wakes threads which sleep already. Guarded by the lock. */
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
	public void park(Object blocker, long nanos) {
		this.lock.lock();
		try {
			Thread thread = Thread.currentThread();
			// from the time that the thread has seen: a test may have moved it since
			Long seen = this.seen.get();
			long until = ((seen != null) ? seen : this.now) + nanos;
			long present = this.now;
			while (!this.permits.remove(thread) && present - until < 0 && !thread.isInterrupted()) {
				this.parked.put(thread, until);
				this.changed.signalAll();
				this.changed.await();
				// whoever is woken because another thread parks must not see what was to
				// pass unnoticed
				present = this.noticed;
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			this.parked.remove(Thread.currentThread());
			this.lock.unlock();
		}
	}

	@Override
	public void unpark(Thread thread) {
		this.lock.lock();
		try {
			this.permits.add(thread);
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	void advance(Duration duration) {
		this.lock.lock();
		try {
			this.now += duration.toNanos();
			this.noticed = this.now;
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Something happens between the next reading of the time and what it is used for. */
	void afterReading(Runnable interruption) {
		this.afterReading.set(interruption);
	}

	/** Time passes while no thread gets to run. */
	void advanceUnnoticed(Duration duration) {
		this.lock.lock();
		try {
			this.now += duration.toNanos();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * Waits, in real time, until a thread is parked with nothing to do before the time
	 * moves.
	 * @return how long it will sleep
	 */
	Duration awaitParked(Thread thread) {
		this.lock.lock();
		try {
			long nanos = TimeUnit.SECONDS.toNanos(10);
			while (true) {
				Long until = this.parked.get(thread);
				if (until != null && !this.permits.contains(thread) && until - this.now > 0) {
					return Duration.ofNanos(until - this.now);
				}
				if (nanos <= 0) {
					return fail(thread + " does not park");
				}
				nanos = this.changed.awaitNanos(Math.min(nanos, 20_000_000)) > 0 ? nanos : nanos - 20_000_000;
			}
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
		finally {
			this.lock.unlock();
		}
	}

}
