package io.github.lockspring.engine.support;

import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A mutual exclusion for state, which runs effects on the outside only after it has been
 * left: {@code try (Monitor entered = monitor.enter()) { … }}. Not for blocking code, and
 * not to be entered twice by a thread.
 *
 * @since 0.1
 */
public final class Monitor implements AutoCloseable {

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Runnable effect;

	/**
	 * Enters the monitor.
	 * @return this monitor, to be closed
	 */
	public Monitor enter() {
		this.lock.lock();
		return this;
	}

	/**
	 * Runs something on the present thread when it has left the monitor. Called inside.
	 * @param effect what to run
	 */
	public void afterwards(Runnable effect) {
		Runnable before = this.effect;
		this.effect = (before == null || before == effect) ? effect : () -> {
			try {
				before.run();
			}
			finally {
				// a waiter that is not woken would wait for ever
				effect.run();
			}
		};
	}

	/**
	 * Leaves the monitor, and runs the effects: all of them, even if one fails.
	 */
	@Override
	public void close() {
		Runnable last = this.effect;
		this.effect = null;
		this.lock.unlock();
		if (last != null) {
			last.run();
		}
	}

}
