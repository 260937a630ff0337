package io.github.lockspring.etcd;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.op.Op;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.etcd.EtcdLease.Unanswered;
import io.github.lockspring.internal.base.DaemonThreadFactory;

/**
 * The leases of this process, one for each length. Thread-safe.
 */
/*
 * For maintainers: a lease that is used is kept alive each third of its length, one that
 * is not is left to expire after its length. It is never revoked before the store is
 * closed: a late revocation would end what it is used for by then. A lease that is gone
 * is lost with all that is on it, and the next use begins another one.
 */
final class EtcdLeases implements AutoCloseable {

	/** Unused for as many thirds of its length, a lease is given up. */
	private static final int MAX_IDLE = 3;

	private static final long CLOSE_MILLIS = 500;

	private final EtcdMembers members;

	private final EtcdRenewal renewal;

	private final LongSupplier clock;

	private final String guards;

	private final Map<Long, EtcdLease> present = new HashMap<>();

	private final Map<Long, CompletableFuture<EtcdLease>> beginning = new HashMap<>();

	private final List<Runnable> losses = new CopyOnWriteArrayList<>();

	private final ScheduledThreadPoolExecutor timer;

	private boolean closed;

	/**
	 * @param guards the prefix of the names of all guards of this process
	 */
	EtcdLeases(EtcdMembers members, String guards, LongSupplier clock) {
		this.members = members;
		this.guards = guards;
		this.clock = clock;
		this.renewal = new EtcdRenewal(members, clock, this::lose);
		this.timer = new ScheduledThreadPoolExecutor(1, new DaemonThreadFactory("lock-etcd-leases"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setKeepAliveTime(30, TimeUnit.SECONDS);
		this.timer.allowCoreThreadTimeOut(true);
		members.onReplacedData(this::loseAll);
	}

	EtcdRenewal renewal() {
		return this.renewal;
	}

	/** Adds a listener for lost leases. */
	void onLoss(Runnable listener) {
		this.losses.add(listener);
	}

	/**
	 * Uses a lease, which is kept alive until the user leaves it. At least half of its
	 * length is proven, unless its leader changes.
	 */
	CompletionStage<EtcdLease> use(long seconds, Object user) {
		EtcdLease lease;
		CompletableFuture<EtcdLease> begun = null;
		synchronized (this) {
			if (this.closed) {
				return Stages.failed("The store was closed");
			}
			lease = this.present.get(seconds);
			if (lease != null) {
				lease.use(user);
			}
			else {
				begun = this.beginning.get(seconds);
				if (begun == null) {
					begun = begin(seconds);
				}
			}
		}
		if (lease != null) {
			return proven(lease, user);
		}
		return Objects.requireNonNull(begun).thenCompose((next) -> use(seconds, user));
	}

	private CompletionStage<EtcdLease> proven(EtcdLease lease, Object user) {
		long half = TimeUnit.SECONDS.toNanos(lease.seconds()) / 2;
		if (lease.provenUntil() - this.clock.getAsLong() >= half) {
			return CompletableFuture.completedFuture(lease);
		}
		return this.renewal.renew(List.of(lease), List.of()).whenComplete((read, ex) -> {
			if (ex != null) {
				lease.leave(user);
			}
		}).thenCompose((read) -> {
			if (!lease.isLost()) {
				return CompletableFuture.completedFuture(lease);
			}
			lease.leave(user);
			return use(lease.seconds(), user);
		});
	}

	private CompletableFuture<EtcdLease> begin(long seconds) {
		CompletableFuture<EtcdLease> begun = new CompletableFuture<>();
		this.beginning.put(seconds, begun);
		long sent = this.clock.getAsLong();
		grant(seconds).thenCompose((granted) -> {
			ByteSequence guard = EtcdKeys.bytes(this.guards + Long.toHexString(granted.getID()));
			return this.members.transact(List.of(), List.of(putGuard(guard, granted.getID())), List.of())
				.thenApply((response) -> new EtcdLease(granted.getID(), seconds, guard, sent,
						response.getHeader().getRevision()));
		}).whenComplete((lease, ex) -> {
			synchronized (this) {
				this.beginning.remove(seconds);
				if (lease != null && !this.closed) {
					this.present.put(seconds, lease);
					tickLater(lease, 0, thirdMillis(lease));
				}
			}
			if (lease != null) {
				begun.complete(lease);
			}
			else {
				begun.completeExceptionally(ex);
			}
		});
		return begun;
	}

	/** Grants a lease. */
	CompletionStage<LeaseGrantResponse> grant(long seconds) {
		return this.members.send((client) -> client.getLeaseClient().grant(seconds));
	}

	static Op putGuard(EtcdLease lease) {
		return putGuard(lease.guard(), lease.id());
	}

	private static Op putGuard(ByteSequence guard, long lease) {
		return EtcdKeys.put(guard, ByteSequence.EMPTY, lease);
	}

	/** Returns a lease on which an addition may be carried out later. */
	synchronized Optional<EtcdLease> findUnsettled(Unanswered additions) {
		return this.present.values().stream().filter((lease) -> lease.isUsedBy(additions)).findFirst();
	}

	/** Returns a lease of this process that is in use. */
	synchronized Optional<EtcdLease> find(long id) {
		return this.present.values().stream().filter((lease) -> lease.id() == id).findFirst();
	}

	// keeping leases alive

	private static long thirdMillis(EtcdLease lease) {
		return lease.seconds() * 1000 / 3;
	}

	private synchronized void tickLater(EtcdLease lease, int idle, long millis) {
		if (!this.timer.isShutdown()) {
			this.timer.schedule(() -> tick(lease, idle), millis, TimeUnit.MILLISECONDS);
		}
	}

	private void tick(EtcdLease lease, int idle) {
		int unused;
		long early = TimeUnit.NANOSECONDS.toMillis(lease.provenUntil() - this.clock.getAsLong())
				- 2 * thirdMillis(lease);
		if (early > 0 && !lease.isLost()) {
			// it was renewed with an entry
			tickLater(lease, idle, early + 1);
			return;
		}
		synchronized (this) {
			unused = lease.takeUse() ? 0 : idle + 1;
			if (lease.isLost() || (unused >= MAX_IDLE && this.present.remove(lease.seconds(), lease))) {
				return;
			}
		}
		CompletableFuture.completedFuture(lease)
			.thenCompose((due) -> this.renewal.renew(List.of(due), List.of()))
			.whenComplete((read, ex) -> {
				boolean proven = lease.provenUntil() - this.clock.getAsLong() > TimeUnit.MILLISECONDS
					.toNanos(thirdMillis(lease));
				tickLater(lease, unused, proven ? thirdMillis(lease) : Math.min(1000, lease.seconds() * 100));
			});
	}

	// losing them

	/** A lease is gone, or has to be taken for gone. */
	void lose(EtcdLease lease) {
		synchronized (this) {
			this.present.remove(lease.seconds(), lease);
		}
		if (lease.lose()) {
			this.losses.forEach(Runnable::run);
		}
	}

	private void loseAll() {
		List<EtcdLease> all;
		synchronized (this) {
			all = List.copyOf(this.present.values());
		}
		all.forEach(this::lose);
	}

	/**
	 * Revokes the leases without entries, and waits a moment for the results. The others
	 * end by themselves.
	 */
	@Override
	public void close() {
		List<EtcdLease> all;
		synchronized (this) {
			this.closed = true;
			this.timer.shutdownNow();
			all = List.copyOf(this.present.values());
			this.present.clear();
		}
		List<CompletableFuture<?>> revoked = new ArrayList<>();
		all.stream()
			.filter(EtcdLease::isRevocable)
			.forEach((lease) -> revoked
				.add(this.members.send((client) -> client.getLeaseClient().revoke(lease.id())).toCompletableFuture()));
		CompletableFuture.allOf(revoked.toArray(new CompletableFuture<?>[0]))
			.completeOnTimeout(null, CLOSE_MILLIS, TimeUnit.MILLISECONDS)
			.exceptionally((ex) -> null)
			.join();
	}

}
