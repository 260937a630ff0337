package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

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
 * <p>
 * The store SPI may change until 1.0.
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

	/**
	 * Requests a lock from a {@link LockStore}.
	 *
	 * @param key the user's key
	 * @param token the owner token of the ownership that is to begin
	 * @param ttl length of the lease
	 * @param queueMode whether the token joins the store's queue if the lock is busy
	 * @since 0.1
	 */
	record AcquireRequest(String key, OwnerToken token, Duration ttl, QueueMode queueMode) {

		/**
		 * The request of a token that waits is repeated after this time at the latest, so
		 * a store may pass over a token in its queue that misses several of them.
		 */
		public static final Duration LONGEST_INTERVAL = Duration.ofSeconds(1);

		/**
		 * How a request treats the queue of waiters.
		 *
		 * @since 0.1
		 */
		public enum QueueMode {

			/**
			 * Does not queue: a busy lock leaves nothing behind in the store.
			 */
			NONE,

			/**
			 * Queues the token for the first time if the lock is busy.
			 */
			JOIN,

			/**
			 * Queues the token again if the lock is busy; it may be in the queue already.
			 */
			REJOIN,

			/**
			 * Queues the token, if the lock is busy, as one that polls: no message
			 * reaches it, and it learns from a later request of this kind that the lock
			 * was handed over to it. Its turn comes a second later than that of a token
			 * that joins at the same time, and the lease that a hand-over gives it lasts
			 * half a second at most.
			 */
			POLL

		}

	}

	/**
	 * The result of an {@link AcquireRequest}.
	 *
	 * @since 0.1
	 */
	sealed interface AcquireResult {

		/**
		 * The token owns the lock.
		 *
		 * @param fencingToken the fencing token, larger than all earlier ones of the key
		 * @param alreadyOwned whether the token owned the lock before this request
		 * @param granted length of the lease, counted from before the request was sent,
		 * where it is not the requested one; null if it is
		 */
		record Acquired(long fencingToken, boolean alreadyOwned, @Nullable Duration granted) implements AcquireResult {

			/**
			 * Creates the result of a request that was given the lease that it asked for.
			 * @param fencingToken the fencing token
			 * @param alreadyOwned whether the token owned the lock before
			 */
			public Acquired(long fencingToken, boolean alreadyOwned) {
				this(fencingToken, alreadyOwned, null);
			}

			/**
			 * Creates the result of a request that found the lock free.
			 * @param fencingToken the fencing token
			 */
			public Acquired(long fencingToken) {
				this(fencingToken, false);
			}

			/**
			 * Returns the length of the lease.
			 * @param request the request
			 * @return what was granted, which may be shorter or longer than what was
			 * requested
			 */
			public Duration lease(AcquireRequest request) {
				return (this.granted != null) ? this.granted : request.ttl();
			}

		}

		/**
		 * Another owner holds the lock.
		 *
		 * @param remainingMillis milliseconds until its lease ends unless it is renewed;
		 * negative if it never ends. For a token in a queue it may be the lease of the
		 * one before it
		 * @param lastFencingToken a number that is at least as large as the fencing token
		 * of every grant before this result, and smaller than that of every later one
		 * @param newInQueue whether this request put the token into the queue; false if
		 * it was in the queue before, or is not queued
		 */
		record Busy(long remainingMillis, long lastFencingToken, boolean newInQueue) implements AcquireResult {

			/**
			 * Creates the result of a request that did not change the queue.
			 * @param remainingMillis milliseconds until the owner's lease ends
			 * @param lastFencingToken the last fencing token
			 */
			public Busy(long remainingMillis, long lastFencingToken) {
				this(remainingMillis, lastFencingToken, false);
			}

		}

	}

	/**
	 * Ends an ownership.
	 *
	 * @param key the user's key
	 * @param token the owner token of the ownership
	 * @param ttl the requested length of the lease, which determines for how long the
	 * store remembers the fencing token; zero if it is not known any more
	 * @param lastFencingToken the largest fencing token that was used in this ownership
	 * if the lock was handed off inside the instance, otherwise 0
	 * @param keep how long the lock stays held before it expires; zero to release it
	 * immediately
	 * @since 0.1
	 */
	record ReleaseRequest(String key, OwnerToken token, Duration ttl, long lastFencingToken, Duration keep) {

		/**
		 * Creates a request that releases the lock immediately, or leaves the queue, for
		 * a lease of unknown length.
		 * @param key the user's key
		 * @param token the owner token of the ownership
		 */
		public ReleaseRequest(String key, OwnerToken token) {
			this(key, token, Duration.ZERO, 0, Duration.ZERO);
		}

		/**
		 * Returns the request to send some time later, which keeps the lock no longer
		 * than this one.
		 * @param time what has passed
		 * @return this request, or one with a shorter {@link #keep}
		 */
		public ReleaseRequest elapsed(Duration time) {
			if (this.keep.isZero()) {
				return this;
			}
			Duration left = (time.compareTo(this.keep) < 0) ? this.keep.minus(time) : Duration.ZERO;
			return new ReleaseRequest(this.key, this.token, this.ttl, this.lastFencingToken, left);
		}

	}

	/**
	 * The result of a {@link ReleaseRequest}.
	 *
	 * @since 0.1
	 */
	sealed interface ReleaseResult {

		/**
		 * The token owned the lock and does not own it any more, or only for the
		 * requested {@link ReleaseRequest#keep() time}. The store may have handed the
		 * lock over to a waiter.
		 */
		record Released() implements ReleaseResult {
		}

		/**
		 * The token did not own the lock. Nothing was changed except that it has left the
		 * queue.
		 *
		 * @param fencingToken the largest fencing token issued for the key, or for
		 * several keys that share it; 0 if not known. If it is larger than that of the
		 * request's owner, another owner may have held the lock
		 */
		record NotOwner(long fencingToken) implements ReleaseResult {

			/**
			 * Returns the result of a request that may have been sent repeatedly. Its
			 * first execution may have released the lock, for another owner whose fencing
			 * token is then no sign of a loss.
			 * @param fencingToken the largest fencing token issued for the key
			 * @param sends how often the request was sent
			 * @return the result, without the fencing token if it was sent more than once
			 */
			public static NotOwner of(long fencingToken, int sends) {
				return new NotOwner((sends > 1) ? 0 : fencingToken);
			}

		}

	}

	/**
	 * Requests the extension of a lease.
	 *
	 * @param key the user's key
	 * @param token the owner token of the ownership
	 * @param ttl time that must be left; a lease with more is not changed
	 * @since 0.1
	 */
	record RenewRequest(String key, OwnerToken token, Duration ttl) {
	}

	/**
	 * The result of a {@link RenewRequest}.
	 *
	 * @since 0.1
	 */
	enum RenewResult {

		/**
		 * The token owns the lock, and at least the requested time is left.
		 */
		RENEWED,

		/**
		 * The token does not own the lock.
		 */
		NOT_OWNER,

		/**
		 * There is no result for this request, but for others in the same batch.
		 */
		UNKNOWN

	}

}
