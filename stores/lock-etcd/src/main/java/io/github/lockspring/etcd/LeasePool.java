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
 * Grants and revokes leases. Keeps a lease without a key for a second, for the next key,
 * since granting and revoking each cost a decision of the servers. Thread-safe.
 */
/*
 * For maintainers: a lease may be reused only if it certainly has no key and no pending
 * request gives it one. This excludes a lease whose key was deleted by a request without
 * a result. The time of a lease counts from its grant or last renewal, so a later key
 * gets less of it.
 */
final class LeasePool implements AutoCloseable {

	/** More leases are rarely returned within a second. */
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
	 * Takes an idle lease with at least three quarters of its time left, or grants one.
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
	 * Returns a lease whose key was removed.
	 * @param usable whether the lease may be reused for another key; if false, it is
	 * revoked
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
	 * Revokes a lease, which also deletes its keys.
	 * @return whether the lease existed
	 */
	CompletionStage<Boolean> revoke(long lease) {
		return EtcdErrors.ifNoLease(
				this.connection.send((client) -> client.getLeaseClient().revoke(lease)).thenApply((response) -> true),
				() -> CompletableFuture.completedFuture(false));
	}

	/** Revokes all idle leases, and waits a moment for the results. */
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
	 * @param validUntil the time until which it lasts at least
	 */
	record Lease(long id, long seconds, long validUntil) {

		boolean isFresh(long now) {
			return this.seconds > 0 && this.validUntil - now >= TimeUnit.SECONDS.toNanos(this.seconds) * 3 / 4;
		}

	}

	/**
	 * A lease without a key.
	 *
	 * @param since the time when it was given back
	 */
	private record Idle(Lease lease, long since) {
	}

}
