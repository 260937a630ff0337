package io.github.lockspring.engine;

import java.util.List;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.store.LockStore;

/**
 * Skeleton.
 */
public final class LockEngine implements AutoCloseable {

	/**
	 * Makes an engine.
	 * @param store the store
	 * @param settings the settings
	 * @param listeners the listeners
	 */
	public LockEngine(LockStore store, EngineSettings settings, List<LockListener> listeners) {
	}

	/**
	 * The template.
	 * @return the template
	 */
	public LockTemplate template() {
		throw new UnsupportedOperationException();
	}

	/**
	 * Starts.
	 */
	public void start() {
	}

	/**
	 * Stops waiting.
	 */
	public void stopWaiting() {
	}

	/**
	 * Stops.
	 */
	public void stop() {
	}

	@Override
	public void close() {
		stop();
	}

}
