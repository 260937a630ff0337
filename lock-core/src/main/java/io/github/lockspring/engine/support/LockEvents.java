package io.github.lockspring.engine.support;

import java.util.List;
import java.util.concurrent.Executor;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the listeners what happens. A listener that fails breaks nothing and keeps no
 * other listener from being told. Thread-safe.
 *
 * @since 0.1
 */
public final class LockEvents {

	private static final Logger logger = LoggerFactory.getLogger(LockEvents.class);

	private final List<LockListener> listeners;

	private final Executor executor;

	/**
	 * Creates the events of an engine.
	 * @param listeners are told, in their order
	 * @param executor runs {@link #publishAsync}
	 */
	public LockEvents(List<LockListener> listeners, Executor executor) {
		this.listeners = List.copyOf(listeners);
		this.executor = executor;
	}

	/**
	 * Returns whether anything that is published is heard.
	 * @return false if there is no listener
	 */
	public boolean hasListeners() {
		return !this.listeners.isEmpty();
	}

	/**
	 * Tells the listeners on the present thread.
	 * @param event what happened
	 */
	public void publish(LockEvent event) {
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
	 * Tells the listeners on the executor: for threads that must not be held up.
	 * @param event what happened
	 */
	public void publishAsync(LockEvent event) {
		if (this.listeners.isEmpty()) {
			return;
		}
		try {
			this.executor.execute(() -> publish(event));
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			logger.error("{} could not be published", event, ex);
		}
	}

}
