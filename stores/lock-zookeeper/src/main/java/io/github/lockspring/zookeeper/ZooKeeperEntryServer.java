package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionState;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the entries of locks in ZooKeeper. Thread-safe.
 */
/*
 * For maintainers: Curator provides only the connection and the sessions. Requests for a
 * node are sent through the handle that has created it, all others through that of the
 * present session. There is no guard against late additions: once the session has moved
 * to another connection, the servers refuse what was sent through the former one, so a
 * list after a `sync` is certain. Additions of a former session are ignored: they vanish
 * when it ends.
 *
 * Once a session is over, Sessions has another handle: `renew` leaves out its nodes,
 * QueueLockStore.renew returns NOT_OWNER for them, and Held.renewed loses the lock.
 * QueueInbox brings that renewal forward by `reconnected`.
 */
final class ZooKeeperEntryServer implements EntryServer {

	private final ZooKeeperStoreSettings settings;

	private final Sessions sessions;

	private final LockPaths paths;

	private final NodeCreation creation;

	private final Positions positions;

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

	private final CuratorFramework client;

	private final ConnectionStateListener connection = (changed, state) -> connectionChanged(state);

	ZooKeeperEntryServer(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning, LongSupplier clock) {
		this.settings = settings;
		this.sessions = new Sessions(client, settings, owning, clock);
		String namespace = client.getNamespace();
		this.paths = new LockPaths(
				((namespace == null || namespace.isEmpty()) ? "" : "/" + namespace) + settings.root());
		this.creation = new NodeCreation(this.paths, settings.acl());
		this.positions = new Positions(settings.tokenFloor());
		this.client = client;
		client.getConnectionStateListenable().addListener(this.connection);
	}

	private void connectionChanged(ConnectionState state) {
		if (state.isConnected()) {
			this.sessions.welcome();
		}
		else {
			this.sessions.connectionLost();
		}
		this.listeners.forEach(Runnable::run);
	}

	@Override
	public StoreTraits traits() {
		return this.sessions.traits();
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.sessions.connected();
	}

	/** Sends a request through the present session. */
	private <T extends @Nullable Object> CompletionStage<T> send(Function<Session, CompletionStage<T>> request) {
		return answer(this.sessions.present().thenCompose(request));
	}

	private static <T extends @Nullable Object> CompletionStage<T> answer(CompletionStage<T> result) {
		return result.exceptionallyCompose((ex) -> CompletableFuture.failedFuture(ZooKeeperErrors.unavailable(ex)));
	}

	// adding

	@Override
	public CompletionStage<Added> add(String key, OwnerToken token, long ttlMillis, boolean repeated) {
		return send((present) -> {
			if (!repeated) {
				return create(present, key, token.toString(), ttlMillis);
			}
			return settle(present, key, token.toString()).thenCompose((found) -> (found != null)
					? added(found, this.positions.read(found)) : create(present, key, token.toString(), ttlMillis));
		});
	}

	private CompletionStage<Added> create(Session present, String key, String token, long ttlMillis) {
		byte[] text = Entry.Content.text(ttlMillis, false).getBytes(StandardCharsets.UTF_8);
		return this.creation.create(present, key, token, text).thenCompose((created) -> {
			OwnNode node = new OwnNode(created.path(), token, order(created.czxid()), ttlMillis, present,
					created.withContainer());
			present.add(node);
			return added(node, created.queue().thenCompose((queue) -> this.positions.read(node, queue)));
		});
	}

	/**
	 * Without a connection, the next attempt looks for the node, and adopts it as another
	 * one. A node whose position cannot be read for another reason is removed.
	 */
	private CompletionStage<Added> added(OwnNode node, CompletionStage<Optional<Position>> position) {
		return position.thenApply((read) -> new Added(node, read.orElse(null))).exceptionallyCompose((ex) -> {
			node.end();
			CompletionStage<Boolean> removed = ZooKeeperErrors.isConnectionLoss(ex)
					? CompletableFuture.completedFuture(false) : remove(node);
			return removed.thenCompose((done) -> CompletableFuture.failedFuture(ex));
		});
	}

	private long order(long czxid) {
		return this.settings.tokenFloor() + czxid;
	}

	@Override
	public CompletionStage<Entry.@Nullable Own> settle(String key, OwnerToken token) {
		return this.<Entry
			.@Nullable Own>send((present) -> settle(present, key, token.toString()).thenApply((found) -> found));
	}

	private CompletionStage<@Nullable OwnNode> settle(Session present, String key, String token) {
		// an earlier request may have been executed by another server
		present.mayBeBehind();
		return list(present, key).thenCompose((queue) -> {
			CompletionStage<@Nullable OwnNode> own = CompletableFuture.<@Nullable OwnNode>completedFuture(null);
			for (Node node : queue) {
				if (node.token().equals(token)) {
					own = own.<@Nullable OwnNode, @Nullable OwnNode>thenCombine(adopt(present, node),
							(first, next) -> (first != null) ? first : next);
				}
			}
			return own.thenApply((found) -> {
				if (found != null) {
					present.add(found);
				}
				return found;
			});
		});
	}

	/** Excludes nodes of earlier sessions, which no longer belong to this process. */
	private CompletionStage<@Nullable OwnNode> adopt(Session present, Node node) {
		return present.stat(node.id())
			.thenApply((stat) -> stat.filter((found) -> found.getEphemeralOwner() == present.id())
				.map((found) -> new OwnNode(node.id(), node.token(), order(found.getCzxid()), -1, present, false))
				.orElse(null));
	}

	// positions

	@Override
	public CompletionStage<Optional<Position>> position(Entry.Own entry) {
		OwnNode node = (OwnNode) entry;
		return answer(this.positions.read(node)
			.exceptionallyCompose((ex) -> ZooKeeperErrors.isExpired(ex)
					? CompletableFuture.completedFuture(Optional.empty()) : CompletableFuture.failedFuture(ex))
			.thenApply((position) -> {
				if (position.isEmpty()) {
					node.end();
				}
				return position;
			}));
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> first(String key) {
		return send((present) -> this.positions.first(present, this.paths.lock(key)));
	}

	@Override
	public CompletionStage<Boolean> watch(Entry entry, Entry.Own waiter, Runnable gone) {
		return answer(new NodeWatch(entry.id(), (OwnNode) waiter, gone).begin());
	}

	// the end of nodes

	@Override
	public CompletionStage<Boolean> keep(Entry.Own entry, long millis) {
		byte[] text = Entry.Content.text(millis, true).getBytes(StandardCharsets.UTF_8);
		return answer(((OwnNode) entry).session().write(entry.id(), text));
	}

	@Override
	public CompletionStage<Boolean> remove(Entry.Own entry) {
		OwnNode node = (OwnNode) entry;
		node.end();
		if (node.isOver()) {
			// it ends with its session, through which nothing can be sent any more
			return CompletableFuture.completedFuture(false);
		}
		return answer(node.isWithContainer() ? removeWithContainer(node) : node.session().delete(entry.id()));
	}

	private CompletionStage<Boolean> removeWithContainer(OwnNode node) {
		return node.session()
			.multi(List.of(Op.delete(node.id(), -1), Op.delete(node.container(), -1)))
			.thenApply(NodeCreation::code)
			.exceptionallyCompose((ex) -> ZooKeeperErrors.isExpired(ex) ? CompletableFuture.completedFuture(Code.NONODE)
					: CompletableFuture.failedFuture(ex))
			// others are in the container, or it may not be deleted
			.thenCompose((code) -> (code == Code.OK || code == Code.NONODE)
					? CompletableFuture.completedFuture(code == Code.OK) : node.session().delete(node.id()));
	}

	// renewal

	/** Nodes of earlier sessions do not belong to this process any more. */
	@Override
	public CompletionStage<Set<Entry.Own>> renew(List<Renewal> renewals) {
		return send((present) -> renew(present,
				renewals.stream().filter((renewal) -> ((OwnNode) renewal.entry()).session() == present).toList()));
	}

	/**
	 * Renews nodes in one transaction, which proves that the session and the nodes exist.
	 * If some are missing, the others are renewed in another one.
	 */
	private CompletionStage<Set<Entry.Own>> renew(Session present, List<Renewal> renewals) {
		if (renewals.isEmpty()) {
			return CompletableFuture.completedFuture(Set.of());
		}
		return present.multi(renewals.stream().map(ZooKeeperEntryServer::renewal).toList()).thenCompose((answers) -> {
			List<Renewal> there = new ArrayList<>();
			for (int i = 0; i < answers.size(); i++) {
				if (answers.get(i) instanceof OpResult.ErrorResult error && error.getErr() == Code.NONODE.intValue()) {
					((OwnNode) renewals.get(i).entry()).end();
				}
				else {
					there.add(renewals.get(i));
				}
			}
			if (there.size() < renewals.size()) {
				return renew(present, there);
			}
			Code refused = NodeCreation.code(answers);
			if (refused != Code.OK) {
				return CompletableFuture.failedFuture(KeeperException.create(refused, there.get(0).entry().id()));
			}
			there.forEach((renewal) -> ((OwnNode) renewal.entry()).show(renewal.ttlMillis()));
			return CompletableFuture.completedFuture(there.stream().map(Renewal::entry).collect(Collectors.toSet()));
		})
			.exceptionallyCompose((ex) -> ZooKeeperErrors.isExpired(ex) ? CompletableFuture.completedFuture(Set.of())
					: CompletableFuture.failedFuture(ex));
	}

	/** Writes a longer lease, which others are shown. */
	private static Op renewal(Renewal renewal) {
		long millis = renewal.ttlMillis();
		String path = renewal.entry().id();
		return (millis > ((OwnNode) renewal.entry()).ttlMillis())
				? Op.setData(path, Entry.Content.text(millis, false).getBytes(StandardCharsets.UTF_8), -1)
				: Op.check(path, -1);
	}

	@Override
	public Duration lease(Duration ttl) {
		return this.sessions.lease(ttl);
	}

	// the connection

	@Override
	public CompletionStage<Void> ping() {
		return send((present) -> present.stat("/").thenApply((stat) -> null));
	}

	@Override
	public void onConnectionChange(Runnable listener) {
		this.listeners.add(listener);
	}

	// inspection

	@Override
	public CompletionStage<List<? extends Entry>> list(String key) {
		return send((present) -> list(present, key).thenApply((queue) -> queue));
	}

	private CompletionStage<List<Node>> list(Session present, String key) {
		String lock = this.paths.lock(key);
		return present.children(lock).thenApply((names) -> LockPaths.sorted(lock, names));
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
		return send((present) -> this.positions.content(present, new Node(entry.id(), entry.token())));
	}

	@Override
	public CompletionStage<Boolean> take(Entry entry) {
		return send((present) -> present.delete(entry.id()));
	}

	@Override
	public void close() {
		this.listeners.clear();
		// the client may be the application's
		this.client.getConnectionStateListenable().removeListener(this.connection);
		this.sessions.close();
	}

}
