package io.github.lockspring.benchmarks.contention;

import io.github.lockspring.benchmarks.adapter.LockAdapter;

/**
 * Lets everybody in.
 */
final class NoLock implements LockAdapter {

	@Override
	public void runLocked(String key, Runnable section) {
		section.run();
	}

	@Override
	public void close() {
	}

}
