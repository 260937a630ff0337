package io.github.lockspring.internal.engine.support;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;

/**
 * A mutual exclusion for state, which runs effects on the outside only after it has been
 * left: {@code try (Monitor entered = monitor.enter()) { … }}. The closing brace runs the
 * effects, such as sending a request, on the present thread. Not for blocking code, and
 * never entered inside itself.
 *
 * @since 0.1
 */
public final class Monitor implements AutoCloseable {

	private final ReentrantLock lock = new ReentrantLock();

	private @Nullable Runnable effect;

	/** What follows the effect: null unless there is more than one. */
	private @Nullable ArrayDeque<Runnable> more;

	/**
	 * Enters the monitor.
	 * @return this monitor, to be closed
	 * @throws IllegalStateException if the thread is inside already
	 */
	public Monitor enter() {
		if (this.lock.isHeldByCurrentThread()) {
			throw new IllegalStateException("A monitor is entered inside itself");
		}
		this.lock.lock();
		return this;
	}

	/**
	 * Runs something on the present thread when it has left the monitor. Called inside.
	 * @param added what to run; must not fail, since the caller of the event would
	 */
	public void afterwards(Runnable added) {
		if (this.effect == null) {
			this.effect = added;
			return;
		}
		if (this.more == null) {
			this.more = new ArrayDeque<>();
		}
		this.more.addLast(added);
	}

	/**
	 * Leaves the monitor, and runs the effects in their order: all of them, even if one
	 * fails.
	 */
	@Override
	public void close() {
		Runnable first = this.effect;
		ArrayDeque<Runnable> others = this.more;
		this.effect = null;
		this.more = null;
		this.lock.unlock();
		if (first == null) {
			return;
		}
		if (others == null) {
			first.run();
			return;
		}
		others.addFirst(first);
		runAll(others);
	}

	/** A waiter that is not woken would wait for ever. */
	private static void runAll(ArrayDeque<Runnable> effects) {
		try {
			// a loop: there are as many as there are waiters
			while (!effects.isEmpty()) {
				effects.removeFirst().run();
			}
		}
		finally {
			if (!effects.isEmpty()) {
				runAll(effects);
			}
		}
	}

}
