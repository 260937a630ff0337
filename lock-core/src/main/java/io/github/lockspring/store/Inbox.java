package io.github.lockspring.store;

/**
 * Receives the messages for one instance. Messages are hints: each may be lost, delayed
 * or duplicated. Implementations are thread-safe.
 * <p>
 * An inbox that needs nothing to receive messages, such as a connection of its own, may
 * be open and confirmed from the beginning. First attempts to acquire then join the
 * queue.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public interface Inbox extends AutoCloseable {

	/**
	 * Opens the inbox in the background and keeps it open, across lost connections, until
	 * {@link #close()}, or until it closes itself because no caller has waited for long.
	 * Returns immediately. Has no effect while the inbox is open or opening.
	 */
	void open();

	/**
	 * Returns whether an inbox that was opened has not closed itself since.
	 * @return false if {@link #open()} has to be called before messages can arrive again
	 */
	default boolean isOpen() {
		return true;
	}

	/**
	 * Returns whether messages that are sent now will arrive, as far as is known.
	 * @return false before the inbox is open or after it was closed, and while a
	 * {@linkplain #probe() probe} has not come back
	 */
	boolean isConfirmed();

	/**
	 * Checks whether messages still arrive, since some may have been lost. The inbox
	 * sends a message to itself and is not confirmed until it has come back. Returns
	 * immediately.
	 */
	void probe();

	/**
	 * Closes the inbox. It may be opened again.
	 */
	@Override
	void close();

}
