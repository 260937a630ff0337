package io.github.lockspring.etcd;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.github.lockspring.internal.Stages;
import org.jspecify.annotations.Nullable;

/**
 * Moves entries to other leases. Thread-safe.
 */
/*
 * For maintainers: a raise goes from a short lease to a longer one that is proven. It
 * compares the last modification of the key, so it is carried out once, and not after a
 * keep; if it finds the entry where it was to bring it, it was carried out before. A keep
 * compares the creation only, since the ownership is over. A lease counts for an entry
 * from the sending of the move on.
 */
final class EtcdMoves {

	private static final int NO_GUARD = 0;

	private final EtcdMembers members;

	private final EtcdLeases leases;

	private final LongSupplier clock;

	EtcdMoves(EtcdMembers members, EtcdLeases leases, LongSupplier clock) {
		this.members = members;
		this.leases = leases;
		this.clock = clock;
	}

	/**
	 * Moves an entry to a longer lease.
	 * @return whether it is on it; false if it has lost its lock
	 */
	CompletionStage<Boolean> raise(EtcdEntry.Mine mine, long ttlMillis) {
		Object call = new Object();
		return this.leases.use(EtcdLease.seconds(ttlMillis), call)
			.thenCompose((target) -> raise(mine, ttlMillis, target).whenComplete((done, ex) -> target.leave(call)));
	}

	private CompletionStage<Boolean> raise(EtcdEntry.Mine mine, long ttlMillis, EtcdLease target) {
		ByteSequence name = mine.name();
		long before = mine.modified();
		if (mine.isEnding()) {
			// a keep must not be undone; looked at after the modification was read
			return Stages.done(true);
		}
		if (target.provenUntil() - mine.validUntil() < 0) {
			return Stages.failed("The longer lease is not proven");
		}
		mine.mayBeOn(target);
		return this.members
			.transact(List.of(EtcdKeys.created(name, mine.revision()), EtcdKeys.modified(name, before)),
					List.of(EtcdKeys.put(name, EtcdEntry.value(mine.token(), ttlMillis, false), target.id())),
					List.of(EtcdKeys.get(name)))
			.handle((response, ex) -> (response != null) ? raised(mine, ttlMillis, target, before, response)
					: this.failed(target, ex))
			.thenCompose(Function.identity());
	}

	private CompletionStage<Boolean> raised(EtcdEntry.Mine mine, long ttlMillis, EtcdLease target, long before,
			TxnResponse response) {
		if (response.isSucceeded()) {
			return Stages.done(mine.noteLease(target.id(), response.getHeader().getRevision()));
		}
		KeyValue found = EtcdKeys.found(response.getGetResponses().get(0));
		if (!mine.noteRead(found)) {
			return Stages.done(false);
		}
		// an earlier raise was carried out, perhaps this one
		boolean there = found != null && found.getLease() == target.id();
		return (mine.modified() != before && !there) ? raise(mine, ttlMillis) : Stages.done(there);
	}

	private CompletionStage<Boolean> failed(EtcdLease target, @Nullable Throwable failure) {
		if (failure != null && EtcdErrors.isNoLease(failure)) {
			this.leases.lose(target);
		}
		return CompletableFuture.failedFuture(failure);
	}

	/**
	 * Keeps an entry on a lease of its own, which nobody renews.
	 * @return whether it is there
	 */
	CompletionStage<Boolean> keep(EtcdEntry.Mine mine, long millis) {
		mine.beingKept();
		long sent = this.clock.getAsLong();
		long seconds = Math.max(EtcdLease.MIN_SECONDS, (millis + 999) / 1000);
		return this.leases.grant(seconds).thenCompose((granted) -> {
			EtcdLease own = new EtcdLease(granted.getID(), seconds, ByteSequence.EMPTY, sent, NO_GUARD);
			mine.mayBeOn(own);
			return this.members
				.transact(List.of(EtcdKeys.created(mine.name(), mine.revision())),
						List.of(EtcdKeys.put(mine.name(), EtcdEntry.value(mine.token(), millis, true), own.id())),
						List.of())
				.thenApply((response) -> {
					if (!response.isSucceeded()) {
						mine.end();
						return false;
					}
					// a raise that was noted meanwhile has ended all other moves
					mine.mayBeOn(own);
					return mine.noteLease(own.id(), response.getHeader().getRevision());
				});
		});
	}

}
