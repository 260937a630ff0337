package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.GetOption;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the entries of locks in etcd. Thread-safe.
 */
final class EtcdEntryServer implements EntryServer {

	private static final Logger logger = LoggerFactory.getLogger(EtcdEntryServer.class);

	private static final StoreTraits TRAITS = new StoreTraits(Duration.ofSeconds(EtcdLease.MIN_SECONDS), null, false,
			false);

	private final EtcdMembers members;

	private final EtcdStoreSettings settings;

	private final LongSupplier clock;

	private final EtcdLeases leases;

	private final EtcdQueue queue;

	private final EtcdMoves moves;

	private final EtcdVersions versions;

	private @Nullable CompletableFuture<@Nullable Void> connected;

	EtcdEntryServer(EtcdMembers members, EtcdStoreSettings settings, LongSupplier clock) {
		this.members = members;
		this.settings = settings;
		this.clock = clock;
		EtcdKeys keys = new EtcdKeys(settings.keyPrefix(), settings.tokenFloor());
		this.leases = new EtcdLeases(members, keys.guards(UUID.randomUUID().toString()), clock);
		this.queue = new EtcdQueue(members, this.leases, keys, clock);
		this.moves = new EtcdMoves(members, this.leases, clock);
		this.versions = new EtcdVersions(members);
	}

	EtcdVersions versions() {
		return this.versions;
	}

	@Override
	public StoreTraits traits() {
		return TRAITS;
	}

	/**
	 * The client connects with its first request. The first lease is part of that, since
	 * a client that has replied has not loaded what it needs for one.
	 */
	@Override
	public synchronized CompletionStage<@Nullable Void> connected() {
		if (this.connected == null) {
			long timeout = this.settings.connectTimeout().toNanos();
			this.connected = connect(this.clock.getAsLong() + timeout).toCompletableFuture()
				.orTimeout(timeout, TimeUnit.NANOSECONDS)
				.<@Nullable Void>handle((done, ex) -> {
					if (ex != null) {
						// the next request reports it
						logger.debug("Not connected", ex);
					}
					else {
						this.versions.warn();
					}
					return null;
				});
		}
		return this.connected.copy();
	}

	/** Tries again while nothing replies. */
	private CompletionStage<Void> connect(long end) {
		return ping().thenCompose((pong) -> this.queue.prepare())
			.exceptionallyCompose((ex) -> (EtcdErrors.isTimeout(ex) && this.clock.getAsLong() - end < 0) ? connect(end)
					: CompletableFuture.failedFuture(ex));
	}

	/**
	 * A repetition needs no care: an entry is recognised by its token, on any lease that
	 * is present.
	 */
	@Override
	public CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis, boolean repeated) {
		return this.queue.add(key, token, ttlMillis);
	}

	@Override
	public CompletionStage<Entry.@Nullable Own> settle(String key, OwnerToken token) {
		return this.queue.settle(key, token);
	}

	@Override
	public CompletionStage<Optional<Position>> position(Entry.Own entry) {
		return this.queue.position((EtcdEntry.Mine) entry);
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> first(String key) {
		return this.queue.firstOf(key);
	}

	@Override
	public CompletionStage<Boolean> watch(Entry entry, Entry.Own waiter, Runnable gone) {
		return this.queue.watch(entry, (EtcdEntry.Mine) waiter, gone);
	}

	@Override
	public CompletionStage<Boolean> keep(Entry.Own entry, long millis) {
		return this.moves.keep((EtcdEntry.Mine) entry, millis);
	}

	@Override
	public CompletionStage<Boolean> remove(Entry.Own entry) {
		return this.queue.remove((EtcdEntry.Mine) entry);
	}

	// renewal

	/** Entries with a longer ttl than that of their lease are moved first. */
	@Override
	public CompletionStage<Set<Entry.Own>> renew(List<Renewal> renewals) {
		long start = this.clock.getAsLong();
		List<CompletableFuture<Boolean>> raises = renewals.stream().map(this::raise).toList();
		return CompletableFuture.allOf(raises.toArray(new CompletableFuture<?>[0])).thenCompose((done) -> {
			List<EtcdEntry.Mine> present = new ArrayList<>();
			Set<EtcdLease> due = new LinkedHashSet<>();
			for (int i = 0; i < renewals.size(); i++) {
				if (raises.get(i).join()) {
					EtcdEntry.Mine mine = (EtcdEntry.Mine) renewals.get(i).entry();
					long end = start + TimeUnit.MILLISECONDS.toNanos(renewals.get(i).ttlMillis());
					present.add(mine);
					mine.leases().stream().filter((lease) -> lease.isDue(start, end)).forEach(due::add);
				}
			}
			return present.isEmpty() ? CompletableFuture.completedFuture(Set.of()) : renew(present, List.copyOf(due));
		});
	}

	/**
	 * Moves an entry if its lease is too short. A failure shows in the time that is
	 * proven.
	 */
	private CompletableFuture<Boolean> raise(Renewal renewal) {
		EtcdEntry.Mine mine = (EtcdEntry.Mine) renewal.entry();
		return (mine.isOver() || EtcdLease.seconds(renewal.ttlMillis()) <= mine.seconds())
				? CompletableFuture.completedFuture(!mine.isOver())
				: this.moves.raise(mine, renewal.ttlMillis()).exceptionally((ex) -> true).toCompletableFuture();
	}

	private CompletionStage<Set<Entry.Own>> renew(List<EtcdEntry.Mine> present, List<EtcdLease> due) {
		List<ByteSequence> names = present.stream().map(EtcdEntry.Mine::name).toList();
		return this.leases.renewal().renew(due, names).thenApply((found) -> {
			Set<Entry.Own> there = new HashSet<>();
			for (int i = 0; i < found.size(); i++) {
				if (present.get(i).noteRead(found.get(i)) && !present.get(i).isOver()) {
					there.add(present.get(i));
				}
			}
			return there;
		});
	}

	// connection

	@Override
	public CompletionStage<Void> ping() {
		GetOption count = GetOption.builder().withCountOnly(true).build();
		ByteSequence name = EtcdKeys.bytes(this.settings.keyPrefix());
		return this.members.read(List.of(Op.get(name, count)), this.settings.commandTimeout())
			.thenApply((response) -> null);
	}

	/**
	 * Also reports lost leases, since the client reports no changes of its connection.
	 */
	@Override
	public void onConnectionChange(Runnable listener) {
		this.members.onChange(listener);
		this.leases.onLoss(listener);
	}

	@Override
	public void close() {
		this.leases.close();
		this.members.close();
	}

	// inspection

	@Override
	public CompletionStage<List<? extends Entry>> list(String key) {
		return this.queue.list(key);
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
		return this.queue.content(entry);
	}

	@Override
	public CompletionStage<Boolean> take(Entry entry) {
		return this.queue.take(entry);
	}

}
