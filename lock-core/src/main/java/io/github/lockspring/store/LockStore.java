package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;

/**
 * Stores locks that several instances share. Offers three atomic requests and,
 * optionally, a queue of waiters.
 * <p>
 * Implementations are thread-safe and block no longer than the timeout they are given.
 * They throw {@link LockUnavailableException}, and no other exception, if there is no
 * usable result; the request may nevertheless have been carried out, or be carried out
 * later. Each request applies to its owner token only: it may be repeated, delayed or
 * reordered, and never changes another owner's lock. Keys are those of the user; a store
 * adds its own prefix.
 *
 * @since 0.1
 */
public interface LockStore extends AutoCloseable {

	/**
	 * Returns what this store is like. Never blocks, and creates no object. The traits
	 * may change with a connection.
	 * @return the traits
	 */
	StoreTraits traits();

	/**
	 * Begins to connect in the background, unless that has been done. Never blocks, and
	 * never fails: the first request reports why there is no connection.
	 */
	default void connect() {
	}

	/**
	 * Connects, unless that has been done, and waits until the first request can be sent.
	 * Returns in any case when connecting has failed, the thread is interrupted, or a
	 * timeout of the store for connecting is over: the next request reports it. Called
	 * before the time of an acquire request begins, since connecting may take longer than
	 * its result may.
	 */
	default void awaitConnection() {
	}

	/**
	 * Acquires the lock for a token if the lock is free or the token owns it already. The
	 * lease then lasts for at least {@code ttl}, or for what the result says, and is
	 * never shortened. Otherwise queues the token if the request says so.
	 * @param request the request
	 * @param timeout maximum time to wait for the result
	 * @return the result
	 * @throws LockUnavailableException if there is no result
	 */
	AcquireResult acquire(AcquireRequest request, Duration timeout);

	/**
	 * Ends an ownership: releases the lock or hands it over to the first in the queue,
	 * and removes the token from the queue. Serves both holders and waiters. Changes
	 * nothing that belongs to another token.
	 * @param request the request
	 * @param timeout maximum time to wait for the result
	 * @return the result
	 * @throws LockUnavailableException if there is no result
	 */
	ReleaseResult release(ReleaseRequest request, Duration timeout);

	/**
	 * Sends a release without waiting for its result. Requests for the same key that this
	 * instance sends after this method has returned are carried out after the release.
	 * Never blocks.
	 * @param request the request
	 * @return the result, which fails where the one of {@link #release} would throw an
	 * exception, and may come at any time; empty if this store cannot do that, now or
	 * ever
	 */
	default Optional<CompletionStage<ReleaseResult>> releaseAsync(ReleaseRequest request) {
		return Optional.empty();
	}

	/**
	 * Extends leases, each only for its owner. Never shortens a lease.
	 * @param requests the requests, at most a few hundred in one call
	 * @param timeout maximum time to wait for the results
	 * @return a result for each request, in the same order. A store that sends them to
	 * several servers returns {@link RenewResult#UNKNOWN} for those of a server that did
	 * not reply
	 * @throws LockUnavailableException if there is no result for any of them
	 */
	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout);

	/**
	 * Returns the name of the server that is responsible for a key, as far as is known
	 * now. Requests for keys of different shards do not wait for each other. The name may
	 * change at any time and has no other effect. Never blocks.
	 * @param key the key
	 * @return the name of the shard; the same for all keys unless a store says otherwise
	 */
	default String shard(String key) {
		return "";
	}

	/**
	 * Creates the inbox of an instance, which is not open yet. Called once for an
	 * instance.
	 * @param instance the instance part of the owner tokens whose messages it receives
	 * @param listener receives the messages
	 * @return the inbox, or empty if this store has no queue. A store whose queue works
	 * without messages returns an inbox that is never confirmed
	 */
	Optional<Inbox> inbox(String instance, InboxListener listener);

	/**
	 * Returns what answers questions about the locks in this store.
	 * @return the inspector, or empty if this store has none
	 */
	default Optional<LockStoreInspector> inspector() {
		return Optional.empty();
	}

	/**
	 * Checks the servers of this store, without a lock.
	 * @param timeout maximum time to wait for each reply
	 * @return what they say, also that they do not reply; empty if this store cannot
	 * check them
	 */
	default Optional<StoreHealth> health(Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Closes the connections and threads of this store in this process. Releases no lock.
	 */
	@Override
	void close();

}
