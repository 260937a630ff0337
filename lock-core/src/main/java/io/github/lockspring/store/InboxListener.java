package io.github.lockspring.store;

/**
 * Is told the messages of an {@link Inbox}, one after the other and in the order of
 * arrival. Must not block.
 */
public interface InboxListener {

	/**
	 * The lock was given to a waiting token.
	 * @param key the user's key
	 * @param token the token that owns the lock now
	 * @param fencingToken its fencing token
	 * @param othersWait whether more tokens are queued
	 */
	void granted(String key, OwnerToken token, long fencingToken, boolean othersWait);

	/**
	 * Another instance waits for a lock that a token of this instance owns.
	 * @param key the user's key
	 * @param token the owning token
	 */
	void wanted(String key, OwnerToken token);

	/**
	 * The inbox has become confirmed, for the first time or again: messages sent before
	 * may have been lost.
	 */
	void opened();

}
