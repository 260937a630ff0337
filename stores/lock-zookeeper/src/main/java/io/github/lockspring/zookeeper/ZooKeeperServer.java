package io.github.lockspring.zookeeper;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the entries of locks in ZooKeeper. Thread-safe.
 */
/*
 * For maintainers: Curator provides only the connection and the sessions. Requests are
 * sent through the handle of the present session, which executes them in the order of
 * sending, and never twice.
 */
final class ZooKeeperServer implements EntryServer {

	private static final int MAX_TRIES = 5;

	private final ZooKeeperStoreSettings settings;

	private final Sessions sessions;

	private final LockPaths paths;

	private final List<Runnable> listeners = new CopyOnWriteArrayList<>();

	ZooKeeperServer(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning) {
		this.settings = settings;
		this.sessions = new Sessions(client, settings, owning);
		String namespace = client.getNamespace();
		this.paths = new LockPaths(
				((namespace == null || namespace.isEmpty()) ? "" : "/" + namespace) + settings.root());
		client.getConnectionStateListenable().addListener((changed, state) -> {
			if (state.isConnected()) {
				this.sessions.welcome();
			}
			this.listeners.forEach(Runnable::run);
		});
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
		return this.sessions.present().thenCompose(request);
	}

	@Override
	public CompletionStage<Added> add(String key, OwnerToken token, boolean repeated, long ttlMillis, String text) {
		if (!repeated) {
			return send((present) -> create(present, key, token, text, 0));
		}
		return find(key, token)
			.thenCompose((found) -> (found == null) ? send((present) -> create(present, key, token, text, 0))
					: list(key).thenApply((queue) -> new Added(found, queue)));
	}

	private CompletionStage<Added> create(Session present, String key, OwnerToken token, String text, int tries) {
		CompletableFuture<Node.Mine> created = new CompletableFuture<>();
		long sent = System.nanoTime();
		present.handle()
			.create(this.paths.entry(key, token.toString()), bytes(text), this.settings.acl(),
					CreateMode.EPHEMERAL_SEQUENTIAL, (code, path, context, name, stat) -> {
						if (code == Code.OK.intValue() && LockPaths.isTooLate(name)) {
							present.handle().delete(name, -1, (deleted, node, ignored) -> {
							}, null);
							created.completeExceptionally(new LockUnavailableException(LockPaths.tooLate(key)));
						}
						else if (code == Code.OK.intValue()) {
							present.wrote(sent);
							created.complete(new Node.Mine(name, token.toString(), stat.getCzxid(), present));
						}
						else {
							created.completeExceptionally(KeeperException.create(Code.get(code), path));
						}
					}, null);
		// the server executes this after the creation
		CompletionStage<List<? extends Entry>> queue = list(present, key);
		return created.handle((entry, ex) -> {
			if (entry != null) {
				return queue.thenApply((entries) -> new Added(entry, entries));
			}
			if (ex instanceof KeeperException.NoNodeException && tries < MAX_TRIES) {
				return createContainers(present, this.paths.containers(key))
					.thenCompose((done) -> create(present, key, token, text, tries + 1));
			}
			return CompletableFuture.<Added>failedFuture(ZooKeeperErrors.unavailable(ex));
		}).thenCompose(Function.identity());
	}

	/** Servers delete empty containers, so they may be missing at any time. */
	private CompletionStage<Boolean> createContainers(Session present, List<String> containers) {
		CompletableFuture<Boolean> done = new CompletableFuture<>();
		AtomicReference<@Nullable String> refused = new AtomicReference<>();
		for (int i = 0; i < containers.size(); i++) {
			boolean last = i == containers.size() - 1;
			present.handle()
				.create(containers.get(i), new byte[0], this.settings.acl(), CreateMode.CONTAINER,
						(code, path, context, name) -> {
							boolean there = code == Code.OK.intValue() || code == Code.NODEEXISTS.intValue();
							if (code == Code.NOAUTH.intValue() && !last) {
								// the container may exist nevertheless
								refused.set(path);
							}
							else if (!there && code != Code.NONODE.intValue()) {
								done.completeExceptionally(ZooKeeperErrors.unavailable(code, path));
							}
							else if (!there && refused.get() != null) {
								done.completeExceptionally(
										ZooKeeperErrors.unavailable(Code.NOAUTH.intValue(), refused.get()));
							}
							else if (last) {
								done.complete(there);
							}
						}, null);
		}
		return done;
	}

	@Override
	public CompletionStage<List<? extends Entry>> list(String key) {
		return send((present) -> list(present, key));
	}

	private CompletionStage<List<? extends Entry>> list(Session present, String key) {
		CompletableFuture<Optional<List<String>>> result = new CompletableFuture<>();
		String lock = this.paths.lock(key);
		present.handle()
			.getChildren(lock, false, (code, path, context, children) -> complete(result, code, path, children), null);
		return result.thenApply((children) -> LockPaths.sorted(lock, children.orElse(List.of())));
	}

	@Override
	public CompletionStage<Entry.@Nullable Own> find(String key, OwnerToken token) {
		return this.<Entry.@Nullable Own>send((present) -> find(present, key, token.toString()));
	}

	private CompletionStage<Entry.@Nullable Own> find(Session present, String key, String token) {
		// the present server may not know yet what a former one has executed
		present.handle().sync(this.paths.lock(key), (code, path, context) -> {
		}, null);
		return list(present, key).<Entry.@Nullable Own>thenCompose((queue) -> {
			CompletionStage<Entry.@Nullable Own> own = CompletableFuture.<Entry.@Nullable Own>completedFuture(null);
			for (Entry entry : queue) {
				if (entry.token().equals(token)) {
					own = own.<Entry.@Nullable Own, Entry.@Nullable Own>thenCombine(own(present, (Node) entry),
							(first, next) -> (first != null) ? first : next);
				}
			}
			return own;
		});
	}

	/** Excludes nodes of earlier sessions, which no longer belong to this process. */
	private CompletionStage<Entry.@Nullable Own> own(Session present, Node node) {
		return stat(present, node.path())
			.thenApply((stat) -> stat.filter((found) -> found.getEphemeralOwner() == present.id())
				.map((found) -> new Node.Mine(node.path(), node.token(), found.getCzxid(), present))
				.orElse(null));
	}

	private CompletionStage<Optional<Stat>> stat(Session present, String node) {
		CompletableFuture<Optional<Stat>> result = new CompletableFuture<>();
		present.handle().exists(node, false, (code, path, context, stat) -> complete(result, code, path, stat), null);
		return result;
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> read(Entry entry) {
		return send((present) -> read(present, Node.pathOf(entry), null));
	}

	@Override
	public CompletionStage<Optional<Entry.Content>> watch(Entry entry, Entry.Own waiter, Runnable gone) {
		String node = Node.pathOf(entry);
		return send((present) -> new NodeWatch(present, node, (Node.Mine) waiter, gone,
				(watch) -> read(present, node, watch))
			.begin());
	}

	private CompletionStage<Optional<Entry.Content>> read(Session present, String node, @Nullable Watcher watcher) {
		CompletableFuture<Optional<Entry.Content>> result = new CompletableFuture<>();
		present.handle()
			.getData(node, watcher, (code, path, context, data, stat) -> complete(result, code, path,
					(data != null && stat != null) ? content(data, stat) : null), null);
		return result;
	}

	/** Compares two clocks for the age, which is only informative. */
	private static Entry.Content content(byte[] data, Stat stat) {
		return Entry.Content.parse(stat.getCzxid(), new String(data, StandardCharsets.UTF_8),
				Duration.ofMillis(Math.max(0, System.currentTimeMillis() - stat.getCtime())));
	}

	private static <T> void complete(CompletableFuture<Optional<T>> result, int code, String path, @Nullable T value) {
		if (code == Code.OK.intValue()) {
			result.complete(Optional.ofNullable(value));
		}
		else if (code == Code.NONODE.intValue()) {
			result.complete(Optional.empty());
		}
		else {
			result.completeExceptionally(ZooKeeperErrors.unavailable(code, path));
		}
	}

	@Override
	public CompletionStage<Boolean> write(Entry.Own entry, String text, long ttlMillis) {
		Node.Mine mine = (Node.Mine) entry;
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		long sent = System.nanoTime();
		mine.session()
			.handle()
			.setData(mine.path(), bytes(text), -1,
					(code, path, context, stat) -> written(result, mine.session(), code, path, sent), null);
		return result;
	}

	/** Uses the session of the node, if it is a node of this process. */
	@Override
	public CompletionStage<Boolean> remove(Entry entry) {
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		return send((present) -> {
			Session used = (entry instanceof Node.Mine mine) ? mine.session() : present;
			long sent = System.nanoTime();
			used.handle()
				.delete(Node.pathOf(entry), -1, (code, path, context) -> written(result, used, code, path, sent), null);
			return (entry instanceof Node.Mine mine) ? result.thenApply((there) -> {
				mine.removed().complete(null);
				return there;
			}) : result;
		});
	}

	private static void written(CompletableFuture<Boolean> result, Session used, int code, String path, long sent) {
		switch (Code.get(code)) {
			case OK -> {
				used.wrote(sent);
				result.complete(true);
			}
			case NONODE, SESSIONEXPIRED -> result.complete(false);
			default -> result.completeExceptionally(ZooKeeperErrors.unavailable(code, path));
		}
	}

	/**
	 * Renews in one transaction, which proves that the session and the nodes exist.
	 */
	@Override
	public CompletionStage<List<RenewResult>> renew(List<Renewal> renewals) {
		RenewResult[] results = new RenewResult[renewals.size()];
		return send((present) -> {
			List<Integer> asked = new ArrayList<>();
			for (int i = 0; i < results.length; i++) {
				results[i] = RenewResult.NOT_OWNER;
				if (((Node.Mine) renewals.get(i).entry()).session() == present) {
					asked.add(i);
				}
			}
			return renew(present, renewals, asked, results);
		});
	}

	private CompletionStage<List<RenewResult>> renew(Session present, List<Renewal> renewals, List<Integer> asked,
			RenewResult[] results) {
		if (asked.isEmpty()) {
			return CompletableFuture.completedFuture(Arrays.asList(results));
		}
		CompletableFuture<List<RenewResult>> outcome = new CompletableFuture<>();
		long sent = System.nanoTime();
		present.handle()
			.multi(asked.stream().map((index) -> operation(renewals.get(index))).toList(),
					(code, path, context, answers) -> {
						if (code == Code.OK.intValue()) {
							present.wrote(sent);
							long longest = Session.lease(present.handle().getSessionTimeout()) / 1_000_000;
							// a session cannot grant more, see the traits
							asked.forEach((index) -> results[index] = (renewals.get(index).ttlMillis() <= longest)
									? RenewResult.RENEWED : RenewResult.UNKNOWN);
							outcome.complete(Arrays.asList(results));
						}
						else if (code == Code.SESSIONEXPIRED.intValue()) {
							outcome.complete(Arrays.asList(results));
						}
						else if (code == Code.NONODE.intValue() && answers != null) {
							List<Integer> others = withoutMissing(asked, answers);
							renew(present, renewals, others, results).whenComplete((later, ex) -> {
								if (ex != null) {
									outcome.completeExceptionally(ex);
								}
								else {
									outcome.complete(later);
								}
							});
						}
						else {
							outcome.completeExceptionally(ZooKeeperErrors.unavailable(code,
									((Node.Mine) renewals.get(asked.get(0)).entry()).path()));
						}
					}, null);
		return outcome;
	}

	private static List<Integer> withoutMissing(List<Integer> asked, List<OpResult> answers) {
		List<Integer> others = new ArrayList<>();
		for (int i = 0; i < asked.size(); i++) {
			boolean missing = answers.get(i) instanceof OpResult.ErrorResult error
					&& error.getErr() == Code.NONODE.intValue();
			if (!missing) {
				others.add(asked.get(i));
			}
		}
		return others;
	}

	private static Op operation(Renewal renewal) {
		String path = ((Node.Mine) renewal.entry()).path();
		return (renewal.text() != null) ? Op.setData(path, bytes(renewal.text()), -1) : Op.check(path, -1);
	}

	/** The client keeps the session alive with its pings. */
	@Override
	public boolean isRenewedWhileConnected() {
		return true;
	}

	@Override
	public CompletionStage<Void> ping() {
		return send((present) -> stat(present, "/").thenApply((stat) -> null));
	}

	@Override
	public void onConnectionChange(Runnable listener) {
		this.listeners.add(listener);
	}

	@Override
	public void close() {
		this.listeners.clear();
		this.sessions.close();
	}

	private static byte[] bytes(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
