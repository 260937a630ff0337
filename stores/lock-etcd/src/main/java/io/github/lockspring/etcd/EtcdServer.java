package io.github.lockspring.etcd;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;

import io.etcd.jetcd.ByteSequence;
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
import io.github.lockspring.etcd.LeasePool.Lease;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the entries of locks in etcd. Thread-safe.
 */
final class EtcdServer implements EntryServer {

	private static final Logger logger = LoggerFactory.getLogger(EtcdServer.class);

	/** Servers extend shorter leases to one and a half election timeouts, rounded up. */
	private static final long MIN_SECONDS = 2;

	private static final StoreTraits TRAITS = new StoreTraits(Duration.ofSeconds(MIN_SECONDS), Duration.ofSeconds(1),
			null, false, false);

	private final EtcdConnection connection;

	private final LeasePool leases;

	private final EtcdStoreSettings settings;

	private @Nullable CompletableFuture<@Nullable Void> connected;

	EtcdServer(EtcdConnection connection, EtcdStoreSettings settings) {
		this.connection = connection;
		this.leases = new LeasePool(connection);
		this.settings = settings;
	}

	@Override
	public StoreTraits traits() {
		return TRAITS;
	}

	/** The client connects with its first request. */
	@Override
	public synchronized CompletionStage<@Nullable Void> connected() {
		if (this.connected == null) {
			this.connected = ping(this.settings.connectTimeout()).<@Nullable Void>handle((pong, ex) -> {
				if (ex != null) {
					// the next request reports it
					logger.debug("Not connected", ex);
				}
				return null;
			}).toCompletableFuture();
		}
		return this.connected.copy();
	}

	private static long seconds(long ttlMillis) {
		return Math.max(MIN_SECONDS, (ttlMillis + 999) / 1000);
	}

	/** A repeated request finds the key that an earlier one has created. */
	@Override
	public CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text) {
		long seconds = seconds(ttlMillis);
		// an idle lease may be gone, for example with the data of the servers
		return EtcdErrors.ifNoLease(this.leases.take(seconds).thenCompose((lease) -> add(key, token, text, lease)),
				() -> this.leases.grant(seconds).thenCompose((lease) -> add(key, token, text, lease)));
	}

	private CompletionStage<Added> add(String key, OwnerToken token, String text, Lease lease) {
		return add(key, token, text, lease, 0).whenComplete((added, ex) -> {
			if (ex != null) {
				// also deletes the key, if there is one
				this.leases.revoke(lease.id());
			}
		});
	}

	/**
	 * Adds a key. Servers keep the names of deleted keys until they compact their data,
	 * and read all of them to find a prefix. So the keys of an instance share one name,
	 * unless a key with that name still exists.
	 * @param taken the creation revision of the existing key with this name; 0 if there
	 * is none
	 */
	private CompletionStage<Added> add(String key, OwnerToken token, String text, Lease lease, long taken) {
		ByteSequence name = bytes(prefix(key) + token.instance());
		ByteSequence other = bytes(prefix(key) + token);
		return this.connection
			.send((client) -> client.getKVClient()
				.txn()
				.If(new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(taken)),
						new Cmp(other, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
				.Then(put((taken == 0) ? name : other, token.toString(), text, lease.id()), queue(key))
				.Else(queue(key))
				.commit())
			.thenCompose((response) -> {
				List<EtcdEntry> queue = entries(response.getGetResponses().get(0));
				Optional<EtcdEntry.Mine> own = own(queue, token);
				if (own.isPresent()) {
					return relying(own.get(), text, lease).thenCompose(
							(there) -> there ? done(new Added(own.get(), queue)) : add(key, token, text, lease, 0));
				}
				long present = order(queue, name);
				return (present != taken) ? add(key, token, text, lease, present)
						: CompletableFuture.failedFuture(new LockUnavailableException(
								"Another client has changed the keys of lock '" + key + "' in etcd"));
			});
	}

	/**
	 * Gives a new lease to a key created by an earlier request. Its former lease is being
	 * revoked, since that request returned no result.
	 * @return false if the key is gone
	 */
	private CompletionStage<Boolean> relying(EtcdEntry.Mine own, String text, Lease lease) {
		long before = own.lease();
		CompletionStage<Boolean> put = (before == lease.id()) ? done(true) : put(own, text, lease.id());
		return put.thenApply((there) -> there && own.replaceLease(before, lease));
	}

	private static long order(List<EtcdEntry> queue, ByteSequence name) {
		return queue.stream().filter((entry) -> entry.name().equals(name)).findFirst().map(EtcdEntry::order).orElse(0L);
	}

	private static Optional<EtcdEntry.Mine> own(List<EtcdEntry> queue, OwnerToken token) {
		return queue.stream()
			.filter((entry) -> entry.token().equals(token.toString()))
			.findFirst()
			.map(EtcdEntry.Mine::new);
	}

	private Op queue(String key) {
		return Op.get(bytes(prefix(key)), byCreation());
	}

	private static GetOption byCreation() {
		return GetOption.builder()
			.isPrefix(true)
			.withSortField(SortTarget.CREATE)
			.withSortOrder(SortOrder.ASCEND)
			.build();
	}

	@Override
	public CompletionStage<List<? extends Entry>> list(String key) {
		return entries(key).thenApply(Function.identity());
	}

	private CompletionStage<List<EtcdEntry>> entries(String key) {
		return this.connection.send((client) -> client.getKVClient().get(bytes(prefix(key)), byCreation()))
			.thenApply(EtcdServer::entries);
	}

	private static List<EtcdEntry> entries(GetResponse response) {
		return response.getKvs().stream().map(EtcdEntry::of).toList();
	}

	@Override
	public CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token) {
		return entries(key).thenApply((queue) -> own(queue, token).orElse(null));
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
		return this.connection.send((client) -> client.getKVClient().get(name(entry)))
			.thenApply((response) -> content(entry, response));
	}

	/** Ignores a key that was created again, which is another entry. */
	private static Optional<Entry.Content> content(Entry entry, GetResponse response) {
		return response.getKvs()
			.stream()
			.filter((found) -> EtcdEntry.of(found).id().equals(entry.id()))
			.findFirst()
			.map(EtcdEntry::content);
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> watch(Entry entry, Entry.Own waiter, Runnable gone) {
		return this.connection.watch(name(entry), gone).thenCompose((end) -> {
			// a watch is a stream of its own, and the watched entry may last long
			((EtcdEntry.Mine) waiter).onEnd(end);
			return read(entry).whenComplete((content, ex) -> {
				if (ex != null || content.isEmpty()) {
					end.run();
				}
			});
		});
	}

	@Override
	public CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis) {
		EtcdEntry.Mine mine = (EtcdEntry.Mine) entry;
		long before = mine.lease();
		if (before == EtcdEntry.NO_LEASE) {
			// the entry is being removed
			return CompletableFuture.completedFuture(false);
		}
		if (ttlMillis == 0) {
			return put(mine, text, before);
		}
		return this.leases.grant(seconds(ttlMillis))
			.thenCompose((lease) -> put(mine, text, lease.id()).whenComplete((there, ex) -> {
				if (ex != null) {
					// the key may have this lease
					mine.onEnd(() -> this.leases.revoke(lease.id()));
				}
			}).thenApply((there) -> {
				boolean replaced = there && mine.replaceLease(before, lease);
				if (there && !replaced) {
					// the key has this lease now, but a removal has taken the former one
					mine.onEnd(() -> this.leases.revoke(lease.id()));
				}
				else {
					this.leases.revoke(replaced ? before : lease.id());
				}
				return replaced;
			}));
	}

	private CompletionStage<Boolean> put(EtcdEntry.Mine mine, String text, long lease) {
		return change(mine.name(), mine.order(), put(mine.name(), mine.token(), text, lease));
	}

	/** Does not change a key that has been created again: the request may be late. */
	private CompletionStage<Boolean> change(ByteSequence name, long order, Op op) {
		return this.connection
			.send((client) -> client.getKVClient()
				.txn()
				.If(new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(order)))
				.Then(op)
				.commit())
			.thenApply(TxnResponse::isSucceeded);
	}

	/**
	 * Deletes the key rather than its lease: the result must tell whether the key
	 * existed, a lease of another process may have another key by now, and the own lease
	 * is kept for the next key.
	 */
	@Override
	public CompletionStage<Boolean> remove(Entry entry) {
		if (!(entry instanceof EtcdEntry.Mine mine)) {
			return delete(((EtcdEntry) entry).name(), ((EtcdEntry) entry).order());
		}
		Lease lease = mine.takeLease();
		return delete(mine.name(), mine.order()).whenComplete((there, ex) -> {
			if (ex == null) {
				mine.end();
			}
			// without a result, the key may still have the lease
			this.leases.giveBack(lease, ex == null && there);
		});
	}

	private CompletionStage<Boolean> delete(ByteSequence name, long order) {
		return change(name, order, Op.delete(name, DeleteOption.DEFAULT));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Renewal> renewals) {
		return new LeaseRenewal(this.connection).renew(renewals, (renewal) -> {
			EtcdEntry.Mine mine = (EtcdEntry.Mine) renewal.entry();
			String text = renewal.text();
			if (seconds(renewal.ttlMillis()) > mine.seconds()) {
				return write(mine, (text != null) ? text : renewal.ttlMillis() + "", renewal.ttlMillis());
			}
			return (text != null) ? write(mine, text, 0) : null;
		});
	}

	@Override
	public boolean isRenewedWhileConnected() {
		return false;
	}

	@Override
	public CompletionStage<Void> ping() {
		return ping(this.settings.commandTimeout());
	}

	private CompletionStage<Void> ping(Duration timeout) {
		GetOption count = GetOption.builder().withCountOnly(true).build();
		return this.connection
			.send((client) -> client.getKVClient().get(bytes(this.settings.keyPrefix()), count), timeout.toMillis())
			.thenApply((response) -> null);
	}

	/** Does nothing: the client reports no changes; requests and watches detect them. */
	@Override
	public void onConnectionChange(Runnable listener) {
	}

	@Override
	public void close() {
		this.leases.close();
		this.connection.close();
	}

	private String prefix(String key) {
		return this.settings.keyPrefix() + URLEncoder.encode(key, StandardCharsets.UTF_8) + "/";
	}

	private static ByteSequence name(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.name() : ((EtcdEntry) entry).name();
	}

	private static Op put(ByteSequence name, String token, String text, long lease) {
		return Op.put(name, bytes(EtcdEntry.value(token, text)), PutOption.builder().withLeaseId(lease).build());
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	private static <T> CompletionStage<T> done(T value) {
		return CompletableFuture.completedFuture(value);
	}

}
