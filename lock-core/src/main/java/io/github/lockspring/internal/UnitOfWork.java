package io.github.lockspring.internal;

/**
 * A unit larger than a call, such as a transaction, that owns the locks taken inside it:
 * they are released when it is complete, not when the call ends, since what the call has
 * written is not visible to others before.
 * <p>
 * Implementations are thread-safe; all methods refer to the current thread.
 *
 * @since 0.1
 */
public interface UnitOfWork {

	/**
	 * No unit of work: each lock ends with its call.
	 */
	UnitOfWork NONE = new UnitOfWork() {

		@Override
		public boolean isActive() {
			return false;
		}

		@Override
		public void afterCompletion(Runnable action) {
			throw new IllegalStateException("No unit of work is active");
		}

	};

	/**
	 * Returns whether the current thread runs inside a unit of work that reports its
	 * completion: for applications with Spring's transactions, whether one is open.
	 * @return whether there is one
	 */
	boolean isActive();

	/**
	 * Registers an action to run once when the current unit of work is complete, however
	 * it ended. The end of an inner unit of work does not count.
	 * @param action what to do; it does not throw
	 * @throws IllegalStateException if none is active
	 */
	void afterCompletion(Runnable action);

}
