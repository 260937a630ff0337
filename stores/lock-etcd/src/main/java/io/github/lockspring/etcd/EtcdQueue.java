package io.github.lockspring.etcd;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.LongSupplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Op;
import io.github.lockspring.etcd.EtcdLease.Unanswered;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.internal.queue.EntryServer.Position;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * Adds entries to the queues of locks, removes them, and reads them. Thread-safe.
 */
/*
 * For maintainers: a request without an answer may be carried out at any later time.
 * Nothing comes of it: an addition compares the guard of its lease, which is put again
 * before the token is forgotten; everything else compares the revision of the creation of
 * its key.
 */
final class EtcdQueue {

	/** New entries are on a lease of this length at most: a dead waiter costs no more. */
	private static final long MAX_FIRST_MILLIS = 10_000;

	/** An addition is repeated after each answer that has the reason for its refusal. */
	private static final int MAX_ADDITIONS = 10;

	private final EtcdMembers members;

	private final EtcdLeases leases;

	private final EtcdKeys keys;

	private final LongSupplier clock;

	EtcdQueue(EtcdMembers members, EtcdLeases leases, EtcdKeys keys, LongSupplier clock) {
		this.members = members;
		this.leases = leases;
		this.keys = keys;
		this.clock = clock;
	}

	// adding

	/** Begins the lease of the first entries. */
	CompletionStage<Void> prepare() {
		Object call = new Object();
		return this.leases.use(EtcdLease.seconds(MAX_FIRST_MILLIS), call).thenAccept((lease) -> lease.leave(call));
	}

	CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis) {
		return add(new Addition(key, this.keys.name(key, token), token.toString(), ttlMillis), MAX_ADDITIONS);
	}

	private CompletionStage<Added> add(Addition addition, int left) {
		if (left == 0) {
			return Stages.failed(
					"The entry of lock '" + addition.key() + "' could not be added: others change its keys in etcd");
		}
		Object call = new Object();
		long seconds = EtcdLease.seconds(Math.min(addition.millis(), MAX_FIRST_MILLIS));
		return this.leases.use(seconds, call)
			.thenCompose((lease) -> put(addition, lease, left).whenComplete((added, ex) -> lease.leave(call)));
	}

	private CompletionStage<Added> put(Addition addition, EtcdLease lease, int left) {
		ByteSequence name = addition.name();
		ByteSequence queue = EtcdKeys.queueOf(name);
		return answered(this.members.transact(
				List.of(EtcdKeys.created(name, 0), EtcdKeys.modified(lease.guard(), lease.guardRevision())),
				List.of(EtcdKeys.put(name, EtcdEntry.value(addition.token(), addition.millis(), false), lease.id()),
						EtcdKeys.last(queue, 2), EtcdKeys.first(queue)),
				List.of(EtcdKeys.get(name), EtcdKeys.get(lease.guard()))), (response, ex) -> {
					if (response == null && !EtcdErrors.isNoLease(ex)) {
						if (!Stages.unavailable(ex).isPermanent()) {
							// otherwise it was refused, and nobody settles it
							lease.use(addition.unanswered());
						}
						return CompletableFuture.failedFuture(ex);
					}
					if (response == null) {
						this.leases.lose(lease);
						return add(addition, left - 1);
					}
					return response.isSucceeded() ? added(addition, lease, response, left)
							: refused(addition, lease, response, left);
				});
	}

	private CompletionStage<Added> added(Addition addition, EtcdLease lease, TxnResponse response, int left) {
		List<KeyValue> last = response.getGetResponses().get(0).getKvs();
		if (lease.isLost()) {
			// found with that lease, and removed
			return add(addition, left - 1);
		}
		Entry before = (last.size() > 1) ? EtcdEntry.of(last.get(1)) : null;
		Entry.Content first = this.keys.content(response.getGetResponses().get(1).getKvs().get(0));
		return Stages.done(new Added(this.keys.mine(last.get(0), lease), new Position(before, first)));
	}

	/**
	 * The addition was refused. If the name is free, the guard was put since: add with
	 * its new revision. If the entry is of this token and on a present lease, it is that
	 * of an earlier addition: adopt it, whichever lease this one names. If the lock is
	 * kept, fail. Otherwise remove the entry, and add then. So what is removed here is
	 * never adopted, even if the removal is carried out late.
	 */
	private CompletionStage<Added> refused(Addition addition, EtcdLease lease, TxnResponse response, int left) {
		KeyValue taken = EtcdKeys.found(response.getGetResponses().get(0));
		if (taken == null) {
			if (!lease.noteGuard(EtcdKeys.found(response.getGetResponses().get(1)))) {
				this.leases.lose(lease);
			}
			return add(addition, left - 1);
		}
		Optional<EtcdLease> present = this.leases.find(taken.getLease());
		if (EtcdEntry.of(taken).token().equals(addition.token()) && present.isPresent()) {
			EtcdEntry.Mine found = this.keys.mine(taken, present.get());
			return position(found).whenComplete((position, ex) -> {
				if (ex != null) {
					// the next attempt finds it again
					found.end();
				}
			}).thenApply((position) -> new Added(found, position.orElse(null)));
		}
		if (this.keys.content(taken).kept()) {
			return Stages.failed("Lock '" + addition.key() + "' is kept by this instance");
		}
		return change(taken.getKey(), taken.getCreateRevision(), EtcdKeys.delete(taken.getKey()))
			.thenCompose((removed) -> add(addition, left - 1));
	}

	/**
	 * An addition to the queue of a lock.
	 *
	 * @param millis length of the lease that was requested
	 */
	private record Addition(String key, ByteSequence name, String token, long millis) {

		Unanswered unanswered() {
			return new Unanswered(this.name, this.token);
		}

	}

	// settling and removing

	/** Rejects the additions of a token that may come late, and looks for its entry. */
	CompletionStage<Entry.@Nullable Own> settle(String key, OwnerToken token) {
		Unanswered additions = new Unanswered(this.keys.name(key, token), token.toString());
		Optional<EtcdLease> unsettled = this.leases.findUnsettled(additions);
		List<Op> operations = new ArrayList<>(guards(unsettled));
		operations.add(EtcdKeys.get(additions.name()));
		return EtcdQueue.<Entry.@Nullable Own>answered(this.members.transact(List.of(), operations, List.of()),
				(response, ex) -> {
					if (response == null) {
						return loseIfGone(unsettled, ex) ? settle(key, token)
								: CompletableFuture.<Entry.@Nullable Own>failedFuture(ex);
					}
					settled(unsettled, additions, response);
					KeyValue found = EtcdKeys.found(response.getGetResponses().get(0));
					if (this.leases.findUnsettled(additions).isPresent()) {
						return settle(key, token);
					}
					return Stages.<Entry.@Nullable Own>done((found != null && isOf(found, token.toString()))
							? this.keys.mine(found, lease(found)) : null);
				});
	}

	private boolean isOf(KeyValue found, String token) {
		return EtcdEntry.of(found).token().equals(token) && !this.keys.content(found).kept();
	}

	/** Returns the lease of a key, which is not known if it was lost. */
	private EtcdLease lease(KeyValue found) {
		return this.leases.find(found.getLease()).orElseGet(() -> {
			EtcdLease unknown = new EtcdLease(found.getLease(), EtcdLease.MIN_SECONDS, ByteSequence.EMPTY,
					this.clock.getAsLong(), 0);
			unknown.lose();
			return unknown;
		});
	}

	private static List<Op> guards(Optional<EtcdLease> lease) {
		return lease.map(EtcdLeases::putGuard).stream().map(Op.class::cast).toList();
	}

	private static void settled(Optional<EtcdLease> lease, Unanswered additions, TxnResponse response) {
		lease.ifPresent((settled) -> {
			settled.guardPut(response.getHeader().getRevision());
			settled.leave(additions);
		});
	}

	/** Drops the lease whose guard was to be put, if it is gone. */
	private boolean loseIfGone(Optional<EtcdLease> lease, @Nullable Throwable failure) {
		boolean gone = lease.isPresent() && failure != null && EtcdErrors.isNoLease(failure);
		if (gone) {
			this.leases.lose(lease.get());
		}
		return gone;
	}

	/** Also rejects additions of the token that may come late. */
	CompletionStage<Boolean> remove(EtcdEntry.Mine mine) {
		mine.beingRemoved();
		Unanswered additions = new Unanswered(mine.name(), mine.token());
		Optional<EtcdLease> unsettled = this.leases.findUnsettled(additions);
		List<Op> removal = new ArrayList<>(List.of(EtcdKeys.delete(mine.name())));
		removal.addAll(guards(unsettled));
		List<Op> otherwise = new ArrayList<>(guards(unsettled));
		otherwise.add(EtcdKeys.get(mine.name()));
		return answered(
				this.members.transact(List.of(EtcdKeys.created(mine.name(), mine.revision())), removal, otherwise),
				(response, ex) -> {
					if (response == null) {
						return loseIfGone(unsettled, ex) ? remove(mine) : CompletableFuture.failedFuture(ex);
					}
					boolean removed = response.isSucceeded();
					KeyValue other = removed ? null : EtcdKeys.found(response.getGetResponses().get(0));
					CompletionStage<Boolean> late = (unsettled.isPresent() && other != null
							&& isOf(other, mine.token()))
									? change(other.getKey(), other.getCreateRevision(), EtcdKeys.delete(other.getKey()))
									: Stages.done(false);
					return late.thenCompose((done) -> {
						settled(unsettled, additions, response);
						return this.leases.findUnsettled(additions).isPresent()
								? remove(mine).thenApply((again) -> removed) : Stages.done(ended(mine, removed));
					});
				});
	}

	private static boolean ended(EtcdEntry.Mine mine, boolean removed) {
		mine.end();
		return removed;
	}

	/** Removes an entry of any instance. */
	CompletionStage<Boolean> take(Entry entry) {
		ByteSequence name = EtcdKeys.name(entry);
		return change(name, EtcdKeys.revision(entry), EtcdKeys.delete(name));
	}

	private CompletionStage<Boolean> change(ByteSequence name, long revision, Op operation) {
		return this.members.transact(List.of(EtcdKeys.created(name, revision)), List.of(operation), List.of())
			.thenApply(TxnResponse::isSucceeded);
	}

	// reading

	CompletionStage<Optional<Position>> position(EtcdEntry.Mine mine) {
		ByteSequence queue = EtcdKeys.queueOf(mine.name());
		return read(EtcdKeys.get(mine.name()), EtcdKeys.lastBefore(queue, mine.revision()), EtcdKeys.first(queue))
			.thenApply((responses) -> {
				if (!mine.noteRead(EtcdKeys.found(responses.get(0)))) {
					mine.end();
					return Optional.empty();
				}
				KeyValue last = EtcdKeys.found(responses.get(1));
				return Optional.of(new Position((last != null) ? EtcdEntry.of(last) : null,
						this.keys.content(responses.get(2).getKvs().get(0))));
			});
	}

	CompletionStage<Optional<Entry.Content>> firstOf(String key) {
		return read(EtcdKeys.first(this.keys.queue(key)))
			.thenApply((responses) -> responses.get(0).getKvs().stream().findFirst().map(this.keys::content));
	}

	CompletionStage<List<? extends Entry>> list(String key) {
		return read(EtcdKeys.all(this.keys.queue(key)))
			.thenApply((responses) -> responses.get(0).getKvs().stream().map(EtcdEntry::of).toList());
	}

	/** Ignores a key that was created again, which is another entry. */
	CompletionStage<Optional<Entry.Content>> content(Entry entry) {
		return read(EtcdKeys.get(EtcdKeys.name(entry))).thenApply((responses) -> responses.get(0)
			.getKvs()
			.stream()
			.filter((found) -> found.getCreateRevision() == EtcdKeys.revision(entry))
			.findFirst()
			.map(this.keys::content));
	}

	CompletionStage<Boolean> watch(Entry entry, EtcdEntry.Mine waiter, Runnable gone) {
		return this.members.watch(EtcdKeys.name(entry), gone).thenCompose((end) -> {
			// a watch is a stream of its own, and the watched entry may last long
			waiter.onEnd(end);
			return content(entry).thenApply(Optional::isPresent).whenComplete((there, ex) -> {
				if (ex != null || !there) {
					end.run();
				}
			});
		});
	}

	private CompletionStage<List<GetResponse>> read(Op... reads) {
		return this.members.read(List.of(reads), EtcdRenewal.PATIENCE).thenApply(TxnResponse::getGetResponses);
	}

	/** Continues with an answer, or with the failure if there is none. */
	private static <T extends @Nullable Object> CompletionStage<T> answered(CompletionStage<TxnResponse> response,
			BiFunction<@Nullable TxnResponse, Throwable, CompletionStage<T>> next) {
		return response.handle(next).thenCompose(Function.identity());
	}

}
