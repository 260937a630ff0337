package io.github.lockspring.engine;

import java.util.List;
import java.util.concurrent.Executor;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners. No listener can break anything or stop another one from being
 * told.
 */
final class Events {

	private static final Logger logger = LoggerFactory.getLogger(Events.class);

	private final List<LockListener> listeners;

	private final Executor thread;

	Events(List<LockListener> listeners, Executor thread) {
		this.listeners = List.copyOf(listeners);
		this.thread = thread;
	}

	boolean hasListeners() {
		return !this.listeners.isEmpty();
	}

	void publish(LockEvent event) {
		for (LockListener listener : this.listeners) {
			try {
				listener.onLockEvent(event);
			}
			catch (Throwable ex) {
				logger.error("A lock listener failed on {}", event, ex);
			}
		}
	}

	/**
	 * Publishes on a thread of its own: for what is found out by a thread that must not
	 * be held up.
	 */
	void publishApart(LockEvent event) {
		if (this.listeners.isEmpty()) {
			return;
		}
		try {
			this.thread.execute(() -> publish(event));
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads, and the loss must be
			// declared all the same
			logger.error("{} could not be published", event, ex);
		}
	}

}
