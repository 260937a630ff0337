package io.github.lockspring;

/**
 * Something larger than a call that locks taken inside it belong to, such as a
 * transaction: they are given back when it is complete, not when the call ends, since
 * what the call has written is not visible to others before.
 * <p>
 * Implementations are thread-safe; what is said is about the present thread.
 */
public interface UnitOfWork {

	/**
	 * Without units of work each lock ends with its call.
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
	 * Whether the present thread runs inside a unit of work whose completion can be
	 * waited for.
	 * @return whether there is one
	 */
	boolean isActive();

	/**
	 * Asks to be called once when the present unit of work is complete, however it ended.
	 * An inner unit of work that has ended by then makes no difference.
	 * @param action what to do; it does not throw
	 * @throws IllegalStateException if none is active
	 */
	void afterCompletion(Runnable action);

}
