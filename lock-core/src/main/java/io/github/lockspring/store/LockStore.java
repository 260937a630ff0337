package io.github.lockspring.store;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.LockUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * Stores the locks that several instances share. Offers three atomic requests and,
 * optionally, a queue of waiters.
 * <p>
 * Each request returns a stage. The stage may complete on any thread, later than the
 * timeout, or never. It fails only with {@link LockUnavailableException}, if there is no
 * usable result; the request may nevertheless have been executed, or be executed later.
 * Implementations are thread-safe, and their methods neither throw nor block. Only in a
 * {@linkplain StoreTraits#blocking() blocking store}, a method returns when its request
 * has finished, with a completed stage.
 * <p>
 * Each request affects its own owner token only: it may be repeated, delayed or reordered
 * without changing another owner's lock. Keys are those of the user; the store adds its
 * own prefix.
 * <p>
 * The store SPI may change until 1.0.
 *
 * @since 0.1
 */
public interface LockStore extends AutoCloseable {

	/**
	 * Returns the capabilities and limits of this store, which may change when it
	 * connects. Must not create an object, since it is called often.
	 * @return the traits
	 */
	StoreTraits traits();

	/**
	 * Returns the length of the lease that a renewal can grant at present, which is less
	 * than the {@linkplain StoreTraits#longestLease() longest} if the store relies on
	 * what it has seen of its servers lately. Never blocks.
	 * @param ttl the requested ttl
	 * @return the length of the lease to request
	 */
	default Duration lease(Duration ttl) {
		return traits().lease(ttl);
	}

	/**
	 * Connects in the background, unless already connected. Callers wait for this before
	 * the timeout of an acquire request begins, since connecting may take longer than
	 * that timeout.
	 * @return a stage that never fails; it completes when the first request can be sent,
	 * when connecting has failed, or after the store's timeout for connecting. The next
	 * request then reports the failure
	 */
	default CompletionStage<@Nullable Void> connected() {
		return CompletableFuture.completedFuture(null);
	}

	/**
	 * Acquires the lock for a token if the lock is free or the token already owns it. The
	 * lease then lasts for at least {@code ttl}, or as long as the result states, and is
	 * never shortened. Otherwise adds the token to the queue if the request asks for it.
	 * @param request the request
	 * @param timeout time after which the result is no longer needed
	 * @return the result
	 */
	CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout);

	/**
	 * Ends an ownership: releases the lock or hands it over to the first in the queue,
	 * and removes the token from the queue. Serves both holders and waiters. Changes
	 * nothing that belongs to another token.
	 * @param request the request
	 * @param timeout time after which the result is no longer needed
	 * @return the result
	 */
	CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout);

	/**
	 * Extends leases, each only for its owner. Never shortens a lease.
	 * @param requests the requests, at most a few hundred in one call
	 * @param timeout time after which the results are no longer needed
	 * @return a result for each request, in the same order. A store with several servers
	 * returns {@link RenewResult#UNKNOWN} for the requests to a server that did not
	 * reply, and fails if no server replied
	 */
	CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout);

	/**
	 * Returns the name of the server that is currently responsible for a key. Requests
	 * for keys of different shards do not wait for each other. The name has no other
	 * effect and may change at any time. Never blocks.
	 * @param key the key
	 * @return the name of the shard; by default the same for all keys
	 */
	default String shard(String key) {
		return "";
	}

	/**
	 * Creates the inbox of an instance, without opening it. Called once for each
	 * instance.
	 * @param instance the instance part of the owner tokens whose messages the inbox
	 * receives
	 * @param listener receives the messages
	 * @return the inbox, or empty if this store has no queue. A store whose queue works
	 * without messages returns an inbox that is never confirmed
	 */
	Optional<Inbox> inbox(String instance, InboxListener listener);

	/**
	 * Returns the inspector of this store.
	 * @return the inspector, or empty if this store has none
	 */
	default Optional<LockStoreInspector> inspector() {
		return Optional.empty();
	}

	/**
	 * Checks the servers of this store, without acquiring a lock.
	 * @param timeout maximum time to wait for each reply
	 * @return the state of the servers, including those that do not reply; empty if this
	 * store cannot check them
	 */
	default Optional<StoreHealth> health(Duration timeout) {
		return Optional.empty();
	}

	/**
	 * Closes the connections and stops the threads of this store in this process. Does
	 * not release any lock.
	 */
	@Override
	void close();

	/**
	 * A request for a lock.
	 *
	 * @param key the user's key
	 * @param token the owner token of the requested ownership
	 * @param ttl length of the lease
	 * @param queue whether the token joins the store's queue, or stays in it, if the lock
	 * is busy. If false, a request for a busy lock adds nothing to the store; whether the
	 * token stays in the queue if an earlier request has added it is up to the store
	 * @since 0.1
	 */
	record AcquireRequest(String key, OwnerToken token, Duration ttl, boolean queue) {

		/**
		 * The longest time after which the request of a waiting token is repeated. A
		 * store may pass over a queued token that has missed several repetitions.
		 */
		public static final Duration LONGEST_INTERVAL = Duration.ofSeconds(1);

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
		 * @param granted length of the lease, counted from before the request was sent;
		 * null if it is the requested ttl
		 */
		record Acquired(long fencingToken, @Nullable Duration granted) implements AcquireResult {

			/**
			 * Creates the result of a request whose lease lasts for the requested ttl.
			 * @param fencingToken the fencing token
			 */
			public Acquired(long fencingToken) {
				this(fencingToken, null);
			}

			/**
			 * Returns the length of the lease.
			 * @param request the request
			 * @return the granted time, which may be shorter or longer than the requested
			 * ttl
			 */
			public Duration lease(AcquireRequest request) {
				return (this.granted != null) ? this.granted : request.ttl();
			}

		}

		/**
		 * Another owner holds the lock.
		 *
		 * @param remainingMillis milliseconds until the holder's lease ends unless it is
		 * renewed; negative if it never ends. For a queued token it may be the lease of
		 * its predecessor in the queue
		 * @param lastFencingToken a number that is at least as large as the fencing token
		 * of every grant before this result, and smaller than that of every later one
		 */
		record Busy(long remainingMillis, long lastFencingToken) implements AcquireResult {
		}

	}

	/**
	 * A request to end an ownership.
	 *
	 * @param key the user's key
	 * @param token the owner token of the ownership
	 * @param lastFencingToken the largest fencing token used in this ownership if the
	 * lock was handed off inside the instance, otherwise 0
	 * @param keep how long the lock stays held before it expires; zero to release it
	 * immediately
	 * @since 0.1
	 */
	record ReleaseRequest(String key, OwnerToken token, long lastFencingToken, Duration keep) {

		/**
		 * Creates a request that releases the lock immediately, or leaves the queue.
		 * @param key the user's key
		 * @param token the owner token of the ownership
		 */
		public ReleaseRequest(String key, OwnerToken token) {
			this(key, token, 0, Duration.ZERO);
		}

		/**
		 * Returns the request to send after a delay, which keeps the lock no longer than
		 * this one would.
		 * @param time the delay
		 * @return this request, or one with a shorter {@link #keep}
		 */
		public ReleaseRequest elapsed(Duration time) {
			if (this.keep.isZero()) {
				return this;
			}
			Duration left = (time.compareTo(this.keep) < 0) ? this.keep.minus(time) : Duration.ZERO;
			return new ReleaseRequest(this.key, this.token, this.lastFencingToken, left);
		}

	}

	/**
	 * The result of a {@link ReleaseRequest}.
	 *
	 * @since 0.1
	 */
	sealed interface ReleaseResult {

		/**
		 * The token owned the lock. It has been released, or is kept for the requested
		 * {@link ReleaseRequest#keep() time}. The store may have handed it over to a
		 * waiter.
		 */
		record Released() implements ReleaseResult {
		}

		/**
		 * The token did not own the lock. The request has only removed the token from the
		 * queue.
		 *
		 * @param fencingToken the largest fencing token issued for the key, or for
		 * several keys that share a counter; 0 if unknown. If it is larger than that of
		 * the request's owner, another owner may have held the lock
		 */
		record NotOwner(long fencingToken) implements ReleaseResult {

			/**
			 * Returns the result of a request that may have been sent more than once. The
			 * first execution may have released the lock; the fencing token of the next
			 * owner is then not a sign of a loss.
			 * @param fencingToken the largest fencing token issued for the key
			 * @param sends how often the request was sent
			 * @return the result, without the fencing token if the request was sent more
			 * than once
			 */
			public static NotOwner of(long fencingToken, int sends) {
				return new NotOwner((sends > 1) ? 0 : fencingToken);
			}

		}

	}

	/**
	 * A request to extend a lease.
	 *
	 * @param key the user's key
	 * @param token the owner token of the ownership
	 * @param ttl the time that must be left; a longer lease is not changed
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
		 * There is no result for this request, but there are results for others in the
		 * same batch.
		 */
		UNKNOWN

	}

}
