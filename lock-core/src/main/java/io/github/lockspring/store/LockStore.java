package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;

import io.github.lockspring.LockUnavailableException;

/**
 * A shared store of locks: three atomic requests, and optionally a queue of waiters.
 * <p>
 * Implementations are thread-safe, block no longer than the timeout they are given, and
 * throw {@link LockUnavailableException}, and nothing else, when there is no usable
 * answer; the request may then have been carried out all the same, now or later. The
 * owner token decides everything: a request may be repeated, delayed or reordered and
 * never touches another owner's lock. Keys are the users' keys; a store adds its own
 * prefix.
 */
public interface LockStore extends AutoCloseable {

	/**
	 * Acquires the lock for a token if it is free, or finds that this token owns it
	 * already; the lease is then at least {@code ttl} long, never shortened. Otherwise
	 * queues the token if the request says so.
	 * @param request what is asked
	 * @param timeout longest time to wait for the answer
	 * @return the answer
	 * @throws LockUnavailableException without an answer
	 */
	AcquireResult acquire(AcquireRequest request, Duration timeout);

	/**
	 * Ends a tenure: gives the lock back, or on to the first in the queue, and takes the
	 * token out of the queue. One request for holders and waiters. Changes nothing that
	 * belongs to another token.
	 * @param request what is asked
	 * @param timeout longest time to wait for the answer
	 * @return the answer
	 * @throws LockUnavailableException without an answer
	 */
	ReleaseResult release(ReleaseRequest request, Duration timeout);

	/**
	 * Lengthens leases, each only for its owner; never shortens one.
	 * @param requests what is asked, at most a few hundred at once
	 * @param timeout longest time to wait for the answers
	 * @return an answer for each request, in their order. A store that reaches several
	 * servers answers {@link RenewResult#UNKNOWN} for those of a server that did not
	 * answer
	 * @throws LockUnavailableException if there is no answer to any of them
	 */
	List<RenewResult> renew(List<RenewRequest> requests, Duration timeout);

	/**
	 * Names the server that answers for a key, as far as is known now: requests about
	 * keys of different shards do not wait for each other. The answer may change at any
	 * time and decides about nothing else. Never blocks.
	 * @param key the key
	 * @return the name of the shard; the same for all keys unless a store says otherwise
	 */
	default String shard(String key) {
		return "";
	}

	/**
	 * Makes the inbox of an instance, not yet open. Called once for an instance.
	 * @param instance the instance part of the owner tokens whose messages it receives
	 * @param listener is told the messages
	 * @return the inbox, or empty if this store has no queue: waiters then ask again,
	 * with jitter
	 */
	Optional<Inbox> inbox(String instance, InboxListener listener);

	/**
	 * Frees what the store holds in this process. Nothing is released in the store.
	 */
	@Override
	void close();

}
