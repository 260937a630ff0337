package io.github.lockspring.engine.support;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A mutual exclusion for state, which runs effects on the outside only after it has been
 * left: {@code try (Monitor entered = monitor.enter()) { … }}. Not for blocking code, and
 * not to be entered twice by a thread.
 */
public final class Monitor implements AutoCloseable {

	private final ReentrantLock lock = new ReentrantLock();

	/** The first effect, kept apart since there is seldom another one. */
	private @Nullable Runnable effect;

	private @Nullable Queue<Runnable> furtherEffects;

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
		if (this.effect == null || this.effect == effect) {
			this.effect = effect;
			return;
		}
		if (this.furtherEffects == null) {
			this.furtherEffects = new ArrayDeque<>();
		}
		this.furtherEffects.add(effect);
	}

	/**
	 * Leaves the monitor, and runs the effects.
	 */
	@Override
	public void close() {
		Runnable first = this.effect;
		Queue<Runnable> further = this.furtherEffects;
		this.effect = null;
		this.furtherEffects = null;
		this.lock.unlock();
		if (first != null) {
			first.run();
		}
		if (further != null) {
			further.forEach(Runnable::run);
		}
	}

}
