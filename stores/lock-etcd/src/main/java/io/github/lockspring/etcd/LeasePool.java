package io.github.lockspring.etcd;

import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Grants and revokes leases, and keeps those without a key for a second, for the next
 * key: to grant a lease and to revoke it are a decision of the servers each. Thread-safe.
 */
/*
 * For maintainers: a lease may be given back only when it is certain that it has no key,
 * and that no request under way gives it one. A lease whose key was deleted by a request
 * without an answer is not. The time of a lease counts from when it was granted or
 * renewed last, so a key that gets it later has less of it.
 */
final class LeasePool implements AutoCloseable {

	/** More than that are not under way at a time. */
	private static final int MAX_IDLE = 64;

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long CLOSE_MILLIS = 500;

	private final EtcdConnection connection;

	private final Deque<Idle> idle = new ConcurrentLinkedDeque<>();

	private final AtomicBoolean sweeping = new AtomicBoolean();

	private final Executor later = CompletableFuture.delayedExecutor(IDLE_NANOS, TimeUnit.NANOSECONDS);

	private volatile boolean closed;

	LeasePool(EtcdConnection connection) {
		this.connection = connection;
	}

	/**
	 * Takes a lease of which at least three quarters are left, or grants one.
	 */
	CompletionStage<Lease> take(long seconds) {
		long now = System.nanoTime();
		for (Idle each : this.idle) {
			if (each.lease().seconds() == seconds && each.lease().isFresh(now) && this.idle.remove(each)) {
				return CompletableFuture.completedFuture(each.lease());
			}
		}
		return grant(seconds);
	}

	CompletionStage<Lease> grant(long seconds) {
		long sent = System.nanoTime();
		return this.connection.send((client) -> client.getLeaseClient().grant(seconds))
			.thenApply((response) -> new Lease(response.getID(), seconds,
					sent + TimeUnit.SECONDS.toNanos(response.getTTL())));
	}

	/**
	 * Takes back a lease that no key has.
	 * @param usable whether it may have another key; otherwise it is revoked
	 */
	void giveBack(Lease lease, boolean usable) {
		long now = System.nanoTime();
		if (lease.id() == EtcdEntry.NO_LEASE) {
			return;
		}
		if (!usable || this.closed || !lease.isFresh(now) || this.idle.size() >= MAX_IDLE) {
			revoke(lease.id());
			return;
		}
		this.idle.addFirst(new Idle(lease, now));
		sweepLater();
	}

	private void sweepLater() {
		if (!this.idle.isEmpty() && this.sweeping.compareAndSet(false, true)) {
			this.later.execute(this::sweep);
		}
	}

	private void sweep() {
		long now = System.nanoTime();
		for (Idle each : this.idle) {
			if (now - each.since() >= IDLE_NANOS && this.idle.remove(each)) {
				revoke(each.lease().id());
			}
		}
		this.sweeping.set(false);
		sweepLater();
	}

	/**
	 * Revokes a lease, and so deletes its keys.
	 * @return whether it was there
	 */
	CompletionStage<Boolean> revoke(long lease) {
		return EtcdErrors.ifNoLease(
				this.connection.send((client) -> client.getLeaseClient().revoke(lease)).thenApply((response) -> true),
				() -> CompletableFuture.completedFuture(false));
	}

	/** Revokes all that have no key, and waits a moment for that. */
	@Override
	public void close() {
		this.closed = true;
		List<CompletableFuture<Boolean>> revoked = new ArrayList<>();
		Idle next;
		while ((next = this.idle.pollFirst()) != null) {
			revoked.add(revoke(next.lease().id()).toCompletableFuture());
		}
		CompletableFuture.allOf(revoked.toArray(new CompletableFuture<?>[0]))
			.completeOnTimeout(null, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
			.exceptionally((ex) -> null)
			.join();
	}

	/**
	 * A lease.
	 *
	 * @param seconds its length
	 * @param validUntil until when it lasts at least
	 */
	record Lease(long id, long seconds, long validUntil) {

		boolean isFresh(long now) {
			return this.seconds > 0 && this.validUntil - now >= TimeUnit.SECONDS.toNanos(this.seconds) * 3 / 4;
		}

	}

	/**
	 * A lease without a key.
	 *
	 * @param since when it was given back
	 */
	private record Idle(Lease lease, long since) {
	}

}
