package io.github.lockspring.etcd;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.lease.LeaseGrantResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.GetOption.SortOrder;
import io.etcd.jetcd.options.GetOption.SortTarget;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent.EventType;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.queue.Entry;
import io.github.lockspring.store.queue.EntryServer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The entries of locks in etcd. Thread-safe.
 */
final class EtcdServer implements EntryServer {

	private static final Logger logger = LoggerFactory.getLogger(EtcdServer.class);

	/** A server raises a lease to one and a half election timeouts, rounded up. */
	private static final long MIN_SECONDS = 2;

	private static final StoreTraits TRAITS = new StoreTraits(Duration.ofSeconds(MIN_SECONDS), Duration.ofSeconds(1),
			null, StoreTraits.Waiting.NOTIFIED_QUEUE, null);

	private static final String TIME = " @";

	private final Client client;

	private final EtcdStoreSettings settings;

	private final boolean owning;

	private volatile boolean connected;

	EtcdServer(Client client, EtcdStoreSettings settings, boolean owning) {
		this.client = client;
		this.settings = settings;
		this.owning = owning;
	}

	@Override
	public StoreTraits traits() {
		return TRAITS;
	}

	/** The client connects with its first request. */
	@Override
	public void connect() {
		ping();
	}

	@Override
	public void awaitConnection() {
		if (this.connected) {
			return;
		}
		try {
			this.client.getKVClient()
				.get(bytes(this.settings.root() + "/"), GetOption.builder().withCountOnly(true).build())
				.get(this.settings.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (Exception ex) {
			// the request that follows reports it
			logger.debug("Not connected", ex);
		}
		this.connected = true;
	}

	private <T> CompletionStage<T> bounded(CompletableFuture<T> response) {
		CompletableFuture<T> bounded = response.copy()
			.orTimeout(this.settings.commandTimeout().toMillis(), TimeUnit.MILLISECONDS);
		return bounded
			.handle((value, ex) -> (ex == null) ? CompletableFuture.completedFuture(value)
					: CompletableFuture.<T>failedFuture(EtcdErrors.unavailable(ex)))
			.thenCompose(Function.identity());
	}

	private static long seconds(long ttlMillis) {
		return Math.max(MIN_SECONDS, (ttlMillis + 999) / 1000);
	}

	/** A repeated request finds its key, whoever has created it. */
	@Override
	public CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text) {
		long sent = System.nanoTime();
		ByteSequence name = bytes(prefix(key) + token);
		return grant(ttlMillis).thenCompose((lease) -> bounded(this.client.getKVClient()
			.txn()
			.If(new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
			.Then(Op.put(name, timed(text), PutOption.builder().withLeaseId(lease.getID()).build()), queue(key))
			.Else(queue(key))
			.commit()).thenApply((response) -> added(key, name, response, lease, sent)).whenComplete((added, ex) -> {
				if (ex != null || added.entry() instanceof EtcdEntry.Mine mine && mine.lease() != lease.getID()) {
					// not used, or it is not known: without the lease there is no key
					// either
					revoke(lease.getID());
				}
			}));
	}

	private CompletionStage<LeaseGrantResponse> grant(long ttlMillis) {
		return bounded(this.client.getLeaseClient().grant(seconds(ttlMillis)));
	}

	private Added added(String key, ByteSequence name, TxnResponse response, LeaseGrantResponse lease, long sent) {
		List<EtcdEntry> queue = entries(key, response.getGetResponses().get(0));
		EtcdEntry own = queue.stream().filter((entry) -> entry.name().equals(name)).findFirst().orElseThrow();
		EtcdEntry.Mine mine = new EtcdEntry.Mine(own);
		if (own.lease() == lease.getID()) {
			mine.leased(lease.getID(), lease.getTTL(), sent);
		}
		return new Added(mine, queue);
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
		return bounded(this.client.getKVClient().get(bytes(prefix(key)), byCreation()))
			.thenApply((response) -> entries(key, response));
	}

	private List<EtcdEntry> entries(String key, GetResponse response) {
		int start = prefix(key).length();
		return response.getKvs()
			.stream()
			.map((each) -> new EtcdEntry(each.getKey(), text(each.getKey()).substring(start), each.getCreateRevision(),
					each.getLease()))
			.toList();
	}

	@Override
	public CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token) {
		ByteSequence name = bytes(prefix(key) + token);
		return bounded(this.client.getKVClient().get(name)).thenApply((response) -> response.getKvs()
			.stream()
			.findFirst()
			.map((found) -> new EtcdEntry.Mine(
					new EtcdEntry(name, token.toString(), found.getCreateRevision(), found.getLease())))
			.orElse(null));
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
		return bounded(this.client.getKVClient().get(name(entry))).thenApply(EtcdServer::content);
	}

	private static Optional<Entry.Content> content(GetResponse response) {
		return response.getKvs().stream().findFirst().map(EtcdServer::content);
	}

	/** The age is for people, so it does not matter that two clocks are compared. */
	private static Entry.Content content(KeyValue found) {
		String value = text(found.getValue());
		int time = value.lastIndexOf(TIME);
		String written = (time >= 0) ? value.substring(time + TIME.length()) : "";
		Duration age = written.matches("\\d{1,18}")
				? Duration.ofMillis(Math.max(0, System.currentTimeMillis() - Long.parseLong(written))) : null;
		return Entry.Content.parse(found.getCreateRevision(), (time >= 0) ? value.substring(0, time) : value, age);
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> watch(Entry entry, Runnable gone) {
		ByteSequence name = name(entry);
		return bounded(this.client.getKVClient().get(name)).thenApply((response) -> {
			Optional<Entry.Content> content = content(response);
			if (content.isPresent()) {
				watch(name, response.getHeader().getRevision() + 1, gone);
			}
			return content;
		});
	}

	private void watch(ByteSequence name, long revision, Runnable gone) {
		CompletableFuture<Watch.Watcher> watcher = new CompletableFuture<>();
		Runnable end = () -> {
			// on another thread: the client's own may not wait for itself
			watcher.thenAcceptAsync(Watch.Watcher::close);
			gone.run();
		};
		watcher.complete(this.client.getWatchClient()
			.watch(name, WatchOption.builder().withRevision(revision).withNoPut(true).build(), (response) -> {
				if (response.getEvents().stream().anyMatch((event) -> event.getEventType() == EventType.DELETE)) {
					end.run();
				}
			}, (ex) -> end.run()));
	}

	@Override
	public CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis) {
		EtcdEntry.Mine mine = (EtcdEntry.Mine) entry;
		if (ttlMillis == 0) {
			return put(mine, text, mine.lease());
		}
		long sent = System.nanoTime();
		long before = mine.lease();
		return grant(ttlMillis).thenCompose((lease) -> put(mine, text, lease.getID()).thenApply((there) -> {
			if (there) {
				mine.leased(lease.getID(), lease.getTTL(), sent);
			}
			revoke(there ? before : lease.getID());
			return there;
		}));
	}

	private CompletionStage<Boolean> put(EtcdEntry.Mine mine, String text, long lease) {
		return bounded(this.client.getKVClient()
			.txn()
			.If(new Cmp(mine.name(), Cmp.Op.EQUAL, CmpTarget.createRevision(mine.order())))
			.Then(Op.put(mine.name(), timed(text), PutOption.builder().withLeaseId(lease).build()))
			.commit()).thenApply(TxnResponse::isSucceeded);
	}

	/** The key goes with its lease, which no other key has. */
	@Override
	public CompletionStage<Boolean> remove(Entry entry) {
		long lease = (entry instanceof EtcdEntry.Mine mine) ? mine.lease() : ((EtcdEntry) entry).lease();
		if (lease == 0) {
			return bounded(this.client.getKVClient().delete(name(entry), DeleteOption.DEFAULT))
				.thenApply((response) -> response.getDeleted() > 0);
		}
		return revoke(lease).thenApply((there) -> {
			if (entry instanceof EtcdEntry.Mine mine) {
				mine.end();
			}
			return there;
		});
	}

	private CompletionStage<Boolean> revoke(long lease) {
		return bounded(this.client.getLeaseClient().revoke(lease).handle((response, ex) -> {
			if (ex == null || EtcdErrors.isNotFound(ex)) {
				return CompletableFuture.completedFuture(ex == null);
			}
			return CompletableFuture.<Boolean>failedFuture(ex);
		}).thenCompose(Function.identity()));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<Renewal> renewals) {
		return new LeaseRenewal(this.client, this::bounded).renew(renewals, (renewal) -> {
			EtcdEntry.Mine mine = (EtcdEntry.Mine) renewal.entry();
			String text = renewal.text();
			if (seconds(renewal.ttlMillis()) > mine.seconds()) {
				return write(mine, (text != null) ? text : renewal.ttlMillis() + "", renewal.ttlMillis());
			}
			return (text != null) ? put(mine, text, mine.lease()) : null;
		});
	}

	@Override
	public boolean isRenewedWhileConnected() {
		return false;
	}

	@Override
	public CompletionStage<Void> ping() {
		return bounded(this.client.getKVClient()
			.get(bytes(this.settings.root() + "/"), GetOption.builder().withCountOnly(true).build()))
			.thenApply((response) -> null);
	}

	/** The client does not tell; requests and watches find out. */
	@Override
	public void onConnectionChange(Runnable listener) {
	}

	@Override
	public void close() {
		if (this.owning) {
			this.client.close();
		}
	}

	private String prefix(String key) {
		return this.settings.root() + "/" + URLEncoder.encode(this.settings.keyPrefix() + key, StandardCharsets.UTF_8)
				+ "/";
	}

	private static ByteSequence name(Entry entry) {
		return (entry instanceof EtcdEntry.Mine mine) ? mine.name() : ((EtcdEntry) entry).name();
	}

	private static ByteSequence timed(String text) {
		return bytes(text + TIME + System.currentTimeMillis());
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

	private static String text(ByteSequence bytes) {
		return bytes.toString(StandardCharsets.UTF_8);
	}

}
