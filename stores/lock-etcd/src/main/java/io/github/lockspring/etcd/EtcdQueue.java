package io.github.lockspring.etcd;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
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
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import io.etcd.jetcd.options.PutOption;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.etcd.EtcdLease.Unanswered;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.internal.queue.EntryServer.Position;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The transactions on the keys of locks. Thread-safe.
 */
/*
 * For maintainers: a request without an answer may be carried out at any later time.
 * Nothing comes of it: an addition compares the guard of its lease, which is put again
 * before the token is forgotten; everything else compares the revision of the creation of
 * its key, and a raise that of the last modification, so that it cannot undo a keep. The
 * keys of an instance in one queue have one name, since servers keep the names of deleted
 * keys until they compact their data, and read all of them to find a prefix.
 */
final class EtcdQueue {

	/** New entries are on a lease of this length at most: a dead waiter costs no more. */
	private static final long MAX_FIRST_MILLIS = 10_000;

	/** An addition is repeated after each answer that says why it was not carried out. */
	private static final int MAX_ADDITIONS = 10;

	private static final int NO_LEASE = 0;

	private final EtcdMembers members;

	private final EtcdLeases leases;

	private final EtcdStoreSettings settings;

	private final LongSupplier clock;

	EtcdQueue(EtcdMembers members, EtcdLeases leases, EtcdStoreSettings settings, LongSupplier clock) {
		this.members = members;
		this.leases = leases;
		this.settings = settings;
		this.clock = clock;
	}

	// adding

	CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis) {
		return add(new Addition(key, name(key, token), token.toString(), ttlMillis), MAX_ADDITIONS);
	}

	private CompletionStage<Added> add(Addition addition, int left) {
		if (left == 0) {
			return failed(
					"The entry of lock '" + addition.key() + "' could not be added: others change its keys in etcd");
		}
		Object call = new Object();
		long seconds = EtcdLease.seconds(Math.min(addition.millis(), MAX_FIRST_MILLIS));
		return this.leases.use(seconds, call)
			.thenCompose((lease) -> put(addition, lease, left).whenComplete((added, ex) -> lease.leave(call)));
	}

	private CompletionStage<Added> put(Addition addition, EtcdLease lease, int left) {
		ByteSequence name = addition.name();
		return answered(this.members.transact(
				List.of(created(name, 0),
						new Cmp(lease.guard(), Cmp.Op.EQUAL, CmpTarget.modRevision(lease.guardRevision()))),
				List.of(put(name, addition.token(), addition.millis(), false, lease.id()),
						Op.get(prefix(addition.key()), byCreation(SortOrder.DESCEND, 2)), first(addition.key())),
				List.of(Op.get(name, GetOption.DEFAULT), Op.get(lease.guard(), GetOption.DEFAULT))), (response, ex) -> {
					if (response == null && !EtcdErrors.isNoLease(ex)) {
						lease.use(addition.unanswered());
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
		Entry.Content first = content(response.getGetResponses().get(1).getKvs().get(0));
		return done(new Added(mine(last.get(0), lease), new Position(before, first)));
	}

	/** The name is taken, or the guard was put since. */
	private CompletionStage<Added> refused(Addition addition, EtcdLease lease, TxnResponse response, int left) {
		KeyValue taken = EtcdRenewal.first(response.getGetResponses().get(0));
		if (taken == null) {
			if (!lease.guardRead(EtcdRenewal.first(response.getGetResponses().get(1)))) {
				this.leases.lose(lease);
			}
			return add(addition, left - 1);
		}
		boolean own = EtcdEntry.of(taken).token().equals(addition.token());
		if (own && taken.getLease() == lease.id() && !lease.isLost()) {
			EtcdEntry.Mine found = mine(taken, lease);
			return position(found).thenApply((position) -> new Added(found, position.orElse(null)));
		}
		if (content(taken).kept()) {
			return failed("Lock '" + addition.key() + "' is kept by this instance");
		}
		return change(taken.getKey(), taken.getCreateRevision(), Op.delete(taken.getKey(), DeleteOption.DEFAULT))
			.thenCompose((removed) -> add(addition, left - 1));
	}

	private EtcdEntry.Mine mine(KeyValue found, EtcdLease lease) {
		return new EtcdEntry.Mine(EtcdEntry.of(found), this.settings.tokenFloor(), found.getModRevision(), lease);
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
		Unanswered additions = new Unanswered(name(key, token), token.toString());
		Optional<EtcdLease> unsettled = this.leases.unsettled(additions);
		List<Op> operations = new ArrayList<>(guards(unsettled));
		operations.add(Op.get(additions.name(), GetOption.DEFAULT));
		return EtcdQueue.<Entry.@Nullable Own>answered(this.members.transact(List.of(), operations, List.of()),
				(response, ex) -> {
					if (response == null) {
						return unsettled(unsettled, ex) ? settle(key, token) : CompletableFuture.failedFuture(ex);
					}
					settled(unsettled, additions, response);
					KeyValue found = EtcdRenewal.first(response.getGetResponses().get(0));
					if (this.leases.unsettled(additions).isPresent()) {
						return settle(key, token);
					}
					return done((found != null && isOf(found, token.toString())) ? mine(found, lease(found)) : null);
				});
	}

	private boolean isOf(KeyValue found, String token) {
		return EtcdEntry.of(found).token().equals(token) && !content(found).kept();
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

	/** Returns whether the lease whose guard was to be put is gone. */
	private boolean unsettled(Optional<EtcdLease> lease, @Nullable Throwable failure) {
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
		Optional<EtcdLease> unsettled = this.leases.unsettled(additions);
		List<Op> removal = new ArrayList<>(List.of(Op.delete(mine.name(), DeleteOption.DEFAULT)));
		removal.addAll(guards(unsettled));
		List<Op> otherwise = new ArrayList<>(guards(unsettled));
		otherwise.add(Op.get(mine.name(), GetOption.DEFAULT));
		return answered(this.members.transact(List.of(created(mine.name(), mine.revision())), removal, otherwise),
				(response, ex) -> {
					if (response == null) {
						return unsettled(unsettled, ex) ? remove(mine) : CompletableFuture.failedFuture(ex);
					}
					settled(unsettled, additions, response);
					KeyValue other = response.isSucceeded() ? null
							: EtcdRenewal.first(response.getGetResponses().get(0));
					if (unsettled.isPresent() && other != null && isOf(other, mine.token())) {
						return change(other.getKey(), other.getCreateRevision(),
								Op.delete(other.getKey(), DeleteOption.DEFAULT))
							.thenApply((removed) -> ended(mine, false));
					}
					return done(ended(mine, response.isSucceeded()));
				});
	}

	private static boolean ended(EtcdEntry.Mine mine, boolean removed) {
		mine.end();
		return removed;
	}

	/** Removes an entry of any instance. */
	CompletionStage<Boolean> take(Entry entry) {
		ByteSequence name = name(entry);
		return change(name, revision(entry), Op.delete(name, DeleteOption.DEFAULT));
	}

	private CompletionStage<Boolean> change(ByteSequence name, long revision, Op operation) {
		return this.members.transact(List.of(created(name, revision)), List.of(operation), List.of())
			.thenApply(TxnResponse::isSucceeded);
	}

	// other leases

	/**
	 * Moves an entry to a longer lease.
	 * @return whether it is on it; false if it has lost its lock
	 */
	CompletionStage<Boolean> raise(EtcdEntry.Mine mine, long ttlMillis) {
		return this.leases.use(EtcdLease.seconds(ttlMillis), mine)
			.thenCompose((target) -> raise(mine, ttlMillis, target));
	}

	private CompletionStage<Boolean> raise(EtcdEntry.Mine mine, long ttlMillis, EtcdLease target) {
		ByteSequence name = mine.name();
		long before = mine.modified();
		mine.mayBeOn(target);
		return answered(this.members.transact(
				List.of(created(name, mine.revision()), new Cmp(name, Cmp.Op.EQUAL, CmpTarget.modRevision(before))),
				List.of(put(name, mine.token(), ttlMillis, false, target.id())),
				List.of(Op.get(name, GetOption.DEFAULT))), (response, ex) -> {
					if (response == null) {
						if (EtcdErrors.isNoLease(ex)) {
							this.leases.lose(target);
						}
						return CompletableFuture.failedFuture(ex);
					}
					if (response.isSucceeded()) {
						return done(mine.isOn(target.id(), response.getHeader().getRevision()));
					}
					KeyValue found = EtcdRenewal.first(response.getGetResponses().get(0));
					if (!isPresent(mine, found)) {
						return done(false);
					}
					// an earlier raise was carried out, perhaps this one
					boolean again = mine.modified() != before && found.getLease() != target.id();
					return again ? raise(mine, ttlMillis) : done(found.getLease() == target.id());
				});
	}

	/** Keeps an entry on a lease of its own, which nobody renews. */
	CompletionStage<Boolean> keep(EtcdEntry.Mine mine, long millis) {
		long sent = this.clock.getAsLong();
		long seconds = Math.max(EtcdLease.MIN_SECONDS, (millis + 999) / 1000);
		return this.leases.grant(seconds).thenCompose((granted) -> {
			EtcdLease own = new EtcdLease(granted.getID(), seconds, ByteSequence.EMPTY, sent, NO_LEASE);
			mine.mayBeOn(own);
			return this.members
				.transact(List.of(created(mine.name(), mine.revision())),
						List.of(put(mine.name(), mine.token(), millis, true, own.id())), List.of())
				.thenApply((response) -> response.isSucceeded()
						? mine.isOn(own.id(), response.getHeader().getRevision()) : ended(mine, false));
		});
	}

	/**
	 * Notes what was read of an entry.
	 * @return false if it is gone, or nobody knows its lease
	 */
	boolean isPresent(EtcdEntry.Mine mine, @Nullable KeyValue found) {
		if (found == null || found.getCreateRevision() != mine.revision()) {
			mine.end();
			return false;
		}
		return mine.isOn(found.getLease(), found.getModRevision());
	}

	// reading

	CompletionStage<Optional<Position>> position(EtcdEntry.Mine mine) {
		String key = key(mine.name());
		GetOption before = GetOption.builder()
			.isPrefix(true)
			.withMaxCreateRevision(mine.revision() - 1)
			.withSortField(SortTarget.CREATE)
			.withSortOrder(SortOrder.DESCEND)
			.withLimit(1)
			.build();
		ByteSequence prefix = bytes(key);
		return read(Op.get(mine.name(), GetOption.DEFAULT), Op.get(prefix, before),
				Op.get(prefix, byCreation(SortOrder.ASCEND, 1)))
			.thenApply((responses) -> {
				KeyValue own = EtcdRenewal.first(responses.get(0));
				if (!isPresent(mine, own)) {
					mine.end();
					return Optional.empty();
				}
				KeyValue last = EtcdRenewal.first(responses.get(1));
				return Optional.of(new Position((last != null) ? EtcdEntry.of(last) : null,
						content(responses.get(2).getKvs().get(0))));
			});
	}

	CompletionStage<Optional<Entry.Content>> firstOf(String key) {
		return read(first(key))
			.thenApply((responses) -> responses.get(0).getKvs().stream().findFirst().map(this::content));
	}

	CompletionStage<List<? extends Entry>> list(String key) {
		return read(Op.get(prefix(key), byCreation(SortOrder.ASCEND, 0)))
			.thenApply((responses) -> responses.get(0).getKvs().stream().map(EtcdEntry::of).toList());
	}

	/** Ignores a key that was created again, which is another entry. */
	CompletionStage<Optional<Entry.Content>> content(Entry entry) {
		return read(Op.get(name(entry), GetOption.DEFAULT)).thenApply((responses) -> responses.get(0)
			.getKvs()
			.stream()
			.filter((found) -> found.getCreateRevision() == revision(entry))
			.findFirst()
			.map(this::content));
	}

	CompletionStage<Boolean> watch(Entry entry, EtcdEntry.Mine waiter, Runnable gone) {
		return this.members.watch(name(entry), gone).thenCompose((end) -> {
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
		return this.members.read(List.of(reads), EtcdRenewal.PATIENCE, this.settings.commandTimeout())
			.thenApply(TxnResponse::getGetResponses);
	}

	private Entry.Content content(KeyValue found) {
		return EtcdEntry.content(found, this.settings.tokenFloor());
	}

	private Op first(String key) {
		return Op.get(prefix(key), byCreation(SortOrder.ASCEND, 1));
	}

	private static GetOption byCreation(SortOrder order, long limit) {
		return GetOption.builder()
			.isPrefix(true)
			.withSortField(SortTarget.CREATE)
			.withSortOrder(order)
			.withLimit(limit)
			.build();
	}

	// names

	private ByteSequence prefix(String key) {
		return bytes(this.settings.keyPrefix() + URLEncoder.encode(key, StandardCharsets.UTF_8) + "/");
	}

	private ByteSequence name(String key, OwnerToken token) {
		return prefix(key).concat(bytes(token.instance()));
	}

	/** Returns the prefix of the queue that a key belongs to. */
	private static String key(ByteSequence name) {
		String text = name.toString(StandardCharsets.UTF_8);
		return text.substring(0, text.lastIndexOf('/') + 1);
	}

	private static ByteSequence name(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.name() : ((EtcdEntry) entry).name();
	}

	private static long revision(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.revision() : ((EtcdEntry) entry).revision();
	}

	private static Cmp created(ByteSequence name, long revision) {
		return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
	}

	private static Op put(ByteSequence name, String token, long millis, boolean kept, long lease) {
		return Op.put(name, EtcdEntry.value(token, millis, kept), PutOption.builder().withLeaseId(lease).build());
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	/** Continues with an answer, or with the failure if there is none. */
	private static <T extends @Nullable Object> CompletionStage<T> answered(CompletionStage<TxnResponse> response,
			BiFunction<@Nullable TxnResponse, Throwable, CompletionStage<T>> next) {
		return response.handle(next).thenCompose(Function.identity());
	}

	private static <T extends @Nullable Object> CompletionStage<T> done(T value) {
		return CompletableFuture.completedFuture(value);
	}

	private static <T> CompletionStage<T> failed(String message) {
		return CompletableFuture.failedFuture(new LockUnavailableException(message));
	}

}
