package io.github.lockspring.benchmarks.adapter;

/**
 * One kind of lock, connected. Thread-safe.
 */
public interface LockAdapter extends AutoCloseable {

	/**
	 * Waits for the lock as long as it takes (a minute at most, where the library wants a
	 * bound), runs the section and gives the lock back.
	 * @param key what to lock
	 * @param section what runs under the lock
	 * @throws Exception if the lock could not be acquired or released
	 */
	void runLocked(String key, Runnable section) throws Exception;

	/**
	 * Takes a free lock and keeps it alive until the handle is closed, by the same
	 * thread.
	 * @param key what to lock
	 * @return the handle
	 * @throws Exception if the lock could not be taken
	 * @throws UnsupportedOperationException if the library does not renew its locks
	 */
	default Hold hold(String key) throws Exception {
		throw new UnsupportedOperationException();
	}

	@Override
	void close();

	/**
	 * A lock that is held.
	 */
	@FunctionalInterface
	interface Hold {

		/**
		 * Gives the lock back.
		 * @throws Exception if it could not be released, or had been lost
		 */
		void release() throws Exception;

	}

}
