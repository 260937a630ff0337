package io.github.lockspring.store;

/**
 * Receives the messages of an {@link Inbox}, one at a time and in the order of arrival.
 * Implementations must not block.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public interface InboxListener {

	/**
	 * Called when a lock was handed over to a waiting token.
	 * @param key the user's key
	 * @param token the token that owns the lock now
	 * @param fencingToken its fencing token
	 * @param othersWait whether more tokens are queued
	 */
	void granted(String key, OwnerToken token, long fencingToken, boolean othersWait);

	/**
	 * Called when another instance waits for a lock that a token of this instance owns.
	 * @param key the user's key
	 * @param token the owning token
	 */
	void wanted(String key, OwnerToken token);

	/**
	 * Called when the inbox has become confirmed, for the first time or again. Messages
	 * sent earlier may have been lost.
	 */
	void opened();

	/**
	 * Called when the store may have lost locks of this instance, such as with its
	 * connection: they are renewed soon, which shows whether they are lost.
	 */
	default void reconnected() {
	}

}
