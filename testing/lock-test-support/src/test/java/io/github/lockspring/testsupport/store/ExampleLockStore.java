package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * The smallest store that keeps the contract, as {@code docs/contribute/write-a-store.md}
 * explains it. It has no queue: a waiting instance asks again.
 */
final class ExampleLockStore implements LockStore {

	private final Server server;

	/**
	 * Creates the store of one instance.
	 * @param server what all instances share
	 */
	ExampleLockStore(Server server) {
		this.server = server;
	}

	@Override
	public StoreTraits traits() {
		return StoreTraits.exact().withOrdered(true);
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		return CompletableFuture.completedFuture(this.server.acquire(request));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		return CompletableFuture.completedFuture(this.server.release(request));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return CompletableFuture.completedFuture(requests.stream().map(this.server::renew).toList());
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.empty();
	}

	@Override
	public void close() {
		// there is no connection
	}

	/**
	 * In place of a server: each request is carried out at one moment, by one clock.
	 * Thread-safe.
	 */
	static final class Server {

		/** A lock that is kept belongs to no token. */
		private static final String KEPT = ".kept";

		private final Map<String, Lock> locks = new HashMap<>();

		private long lastFencingToken;

		/**
		 * A lock that is taken.
		 *
		 * @param owner the owner token, or what it is kept for
		 * @param end when the lease ends, in nanoseconds
		 */
		private record Lock(String owner, long end) {
		}

		synchronized AcquireResult acquire(AcquireRequest request) {
			long now = System.nanoTime();
			Lock lock = present(request.key(), now);
			if (lock != null && !isOwner(lock, request.token())) {
				long left = Math.max(1, Duration.ofNanos(lock.end() - now).toMillis());
				return new AcquireResult.Busy(left, this.lastFencingToken);
			}
			extend(request.key(), request.token(), lock, now + request.ttl().toNanos());
			return new AcquireResult.Acquired(nextFencingToken());
		}

		synchronized ReleaseResult release(ReleaseRequest request) {
			long now = System.nanoTime();
			Lock lock = present(request.key(), now);
			String kept = request.token() + KEPT;
			if (lock == null || !isOwner(lock, request.token())) {
				boolean repeated = lock != null && lock.owner().equals(kept);
				return repeated ? new ReleaseResult.Released() : new ReleaseResult.NotOwner(this.lastFencingToken);
			}
			this.lastFencingToken = Math.max(this.lastFencingToken, request.lastFencingToken());
			if (request.keep().isZero()) {
				this.locks.remove(request.key());
			}
			else {
				this.locks.put(request.key(), new Lock(kept, now + request.keep().toNanos()));
			}
			return new ReleaseResult.Released();
		}

		synchronized RenewResult renew(RenewRequest request) {
			long now = System.nanoTime();
			Lock lock = present(request.key(), now);
			if (lock == null || !isOwner(lock, request.token())) {
				return RenewResult.NOT_OWNER;
			}
			extend(request.key(), request.token(), lock, now + request.ttl().toNanos());
			return RenewResult.RENEWED;
		}

		/** Returns the lock of a key; null if it is free, or its lease is over. */
		private @Nullable Lock present(String key, long now) {
			Lock lock = this.locks.get(key);
			if (lock != null && lock.end() - now <= 0) {
				this.locks.remove(key);
				return null;
			}
			return lock;
		}

		private static boolean isOwner(Lock lock, OwnerToken token) {
			return lock.owner().equals(token.toString());
		}

		/** Never shortens a lease. */
		private void extend(String key, OwnerToken token, @Nullable Lock present, long end) {
			long later = (present != null && present.end() - end > 0) ? present.end() : end;
			this.locks.put(key, new Lock(token.toString(), later));
		}

		/**
		 * Grows also if the locks and the last token are lost, as long as the clock does.
		 */
		private long nextFencingToken() {
			long micros = ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now());
			this.lastFencingToken = Math.max(this.lastFencingToken + 1, micros);
			return this.lastFencingToken;
		}

		synchronized void loseEverything() {
			this.locks.clear();
			this.lastFencingToken = 0;
		}

		synchronized int size() {
			return this.locks.size();
		}

	}

}
