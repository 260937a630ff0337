package io.github.lockspring.store;

/**
 * Where messages for one instance arrive. Messages are hints: each may be lost, late or
 * doubled. Thread-safe.
 */
public interface Inbox extends AutoCloseable {

	/**
	 * Begins to open the inbox in the background and keeps it open, across lost
	 * connections, until {@link #close()}. Returns at once. Does nothing if it is open or
	 * opening.
	 */
	void open();

	/**
	 * Whether messages sent now will arrive, as far as is known.
	 * @return false before the inbox is open, and while it is in doubt
	 */
	boolean isConfirmed();

	/**
	 * Says that messages may have been lost: until a message to itself has come back, the
	 * inbox is not confirmed. Returns at once.
	 */
	void probe();

	/**
	 * Closes the inbox. It may be opened again.
	 */
	@Override
	void close();

}
