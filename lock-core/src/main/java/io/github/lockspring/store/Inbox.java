package io.github.lockspring.store;

/**
 * Receives the messages to one instance. Messages are hints: each may be lost, delayed or
 * duplicated. Implementations are thread-safe.
 * <p>
 * An inbox that needs no connection or the like to receive messages may be open and
 * confirmed from the beginning. Even the first attempt to acquire a lock then joins the
 * queue.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public interface Inbox extends AutoCloseable {

	/**
	 * Opens the inbox in the background. Keeps it open across lost connections, until
	 * {@link #close()} or until it closes itself because no caller has waited for a
	 * while. Returns immediately. Has no effect while the inbox is open or opening.
	 */
	void open();

	/**
	 * Returns whether the inbox is still open, that is, has not closed itself since it
	 * was opened.
	 * @return false if messages can arrive only after another call of {@link #open()}
	 */
	default boolean isOpen() {
		return true;
	}

	/**
	 * Returns whether messages sent now are expected to arrive. While open, the inbox
	 * verifies this every few seconds, by asking the server or by sending a message to
	 * itself, and reopens itself if that fails. Asked where nothing may block: never
	 * waits, not even for a message that is being delivered.
	 * @return false before the inbox is open, while it reopens, and after it was closed
	 */
	boolean isConfirmed();

	/**
	 * Closes the inbox. It may be opened again.
	 */
	@Override
	void close();

}
