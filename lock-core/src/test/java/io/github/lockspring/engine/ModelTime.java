package io.github.lockspring.engine;

import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.engine.support.Time;

/**
 * Time of a model: it stands still until the model moves it, and a parked thread wakes
 * only when it is unparked, interrupted, or its time has come, never for no reason. So a
 * wake-up that is forgotten leaves a thread that waits for ever, which Lincheck reports.
 */
final class ModelTime implements Time {

	private static final class Sleeper {

		boolean permit;

		/** What the thread's last reading was: it counts its sleep from there. */
		long seen;

	}

	private final ConcurrentHashMap<Thread, Sleeper> sleepers = new ConcurrentHashMap<>();

	private volatile long now = Long.MAX_VALUE - 1_000_000_000L;

	@Override
	public long nanoTime() {
		Sleeper mine = sleeper(Thread.currentThread());
		mine.seen = this.now;
		return mine.seen;
	}

	@Override
	public void park(Object blocker, long nanos) {
		Sleeper mine = sleeper(Thread.currentThread());
		long until = mine.seen + nanos;
		synchronized (mine) {
			try {
				while (!mine.permit && this.now - until < 0 && !Thread.currentThread().isInterrupted()) {
					mine.wait();
				}
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			mine.permit = false;
		}
	}

	@Override
	public void unpark(Thread thread) {
		Sleeper other = sleeper(thread);
		synchronized (other) {
			other.permit = true;
			other.notifyAll();
		}
	}

	void advance(long nanos) {
		this.now += nanos;
		for (Sleeper sleeper : this.sleepers.values()) {
			synchronized (sleeper) {
				sleeper.notifyAll();
			}
		}
	}

	private Sleeper sleeper(Thread thread) {
		return this.sleepers.computeIfAbsent(thread, (key) -> new Sleeper());
	}

}
