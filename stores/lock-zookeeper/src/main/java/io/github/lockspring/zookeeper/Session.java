package io.github.lockspring.zookeeper;

import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;

import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.OpResult;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.Watcher.WatcherType;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.apache.zookeeper.data.Stat;
import org.jspecify.annotations.Nullable;

/**
 * A session, and the requests through its handle. Thread-safe.
 */
/*
 * For maintainers: a handle never begins another session, executes requests in the order
 * of sending, and never repeats one. So requests that are sent through it never affect
 * the nodes of the next session, and a read sees what was synchronized by a request
 * before it. Results arrive on the thread of the client.
 */
final class Session {

	/** Errors for which the leader has looked up the session. */
	private static final Set<Code> IN_SESSION = EnumSet.of(Code.OK, Code.NONODE, Code.NODEEXISTS, Code.NOTEMPTY,
			Code.NOAUTH);

	/** How long it is proven after the last node was added if it has none any more. */
	private static final long IN_USE_NANOS = TimeUnit.MINUTES.toNanos(10);

	private final ZooKeeper handle;

	private final LongSupplier clock;

	private final SessionProofs proofs = new SessionProofs();

	private final Set<OwnNode> nodes = ConcurrentHashMap.newKeySet();

	/** When the last node was added. */
	private volatile long used;

	private final AtomicBoolean proving = new AtomicBoolean();

	private volatile boolean left;

	/** Whether a server may not show yet what a former one has executed. */
	private volatile boolean behind;

	Session(ZooKeeper handle, LongSupplier clock) {
		this.handle = handle;
		this.clock = clock;
	}

	ZooKeeper handle() {
		return this.handle;
	}

	long id() {
		return this.handle.getSessionId();
	}

	/**
	 * Returns whether the session has ended, or was given up.
	 */
	boolean isOver() {
		return !this.handle.getState().isAlive();
	}

	// how long it lasts

	private long timeout() {
		return TimeUnit.MILLISECONDS.toNanos(this.handle.getSessionTimeout());
	}

	/**
	 * Returns the time until which the session is proven to last.
	 */
	long validUntil() {
		return this.proofs.validUntil(this.clock.getAsLong(), timeout());
	}

	/**
	 * Returns for how long the session will be proven by a write, in nanoseconds. A part
	 * is left for the time until it is sent.
	 */
	long lease() {
		long now = this.clock.getAsLong();
		return this.proofs.validAfter(now, timeout()) - now - timeout() / 24;
	}

	/** The session has this node from now on. */
	void add(OwnNode node) {
		this.nodes.add(node);
		this.used = this.clock.getAsLong();
		if (this.proving.compareAndSet(false, true)) {
			proveLater();
		}
	}

	void remove(OwnNode node) {
		this.nodes.remove(node);
	}

	private void proveLater() {
		CompletableFuture.delayedExecutor(timeout() / 12, TimeUnit.NANOSECONDS, Runnable::run).execute(this::prove);
	}

	/**
	 * Writes at each twelfth of the timeout while the session is in use, so that it is
	 * always proven for a third of the timeout.
	 */
	private void prove() {
		if (!isInUse()) {
			this.proving.set(false);
			// a node may have been added meanwhile
			if (!isInUse() || !this.proving.compareAndSet(false, true)) {
				return;
			}
		}
		if (this.proofs.isIdleSince(this.clock.getAsLong() - timeout() / 24)) {
			multi(List.of(Op.check("/", -1)));
		}
		proveLater();
	}

	private boolean isInUse() {
		return !this.left && !isOver() && (!this.nodes.isEmpty() || this.clock.getAsLong() - this.used < IN_USE_NANOS);
	}

	/** The store is closed; the session may be that of the application's client. */
	void leave() {
		this.left = true;
	}

	/**
	 * Executes operations in one transaction.
	 * @return their results, one of which is the reason if none was executed; fails if it
	 * is unknown whether they were executed, or the session has ended
	 */
	CompletableFuture<List<OpResult>> multi(List<Op> operations) {
		CompletableFuture<List<OpResult>> result = new CompletableFuture<>();
		long sent = this.clock.getAsLong();
		this.handle.multi(operations, (code, path, context, results) -> {
			written(code, sent);
			if (results != null && IN_SESSION.contains(Code.get(code))) {
				result.complete(results);
			}
			else {
				fail(result, code, path);
			}
		}, null);
		return result;
	}

	/**
	 * Creates an ephemeral sequential node.
	 * @return its path and czxid
	 */
	CompletableFuture<Created> create(String prefix, byte[] data, List<ACL> acl) {
		CompletableFuture<Created> result = new CompletableFuture<>();
		long sent = this.clock.getAsLong();
		this.handle.create(prefix, data, acl, CreateMode.EPHEMERAL_SEQUENTIAL, (code, path, context, name, stat) -> {
			written(code, sent);
			if (code == Code.OK.intValue()) {
				result.complete(new Created(name, stat.getCzxid()));
			}
			else {
				fail(result, code, path);
			}
		}, null);
		return result;
	}

	/**
	 * A node that was created.
	 *
	 * @param path its path
	 * @param czxid the number of the transaction that created it
	 */
	record Created(String path, long czxid) {
	}

	/**
	 * Deletes a node.
	 * @return whether it existed; false also if the session has ended
	 */
	CompletableFuture<Boolean> delete(String path) {
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		long sent = this.clock.getAsLong();
		this.handle.delete(path, -1, (code, deleted, context) -> completeWrite(result, code, deleted, sent), null);
		return result;
	}

	/**
	 * Writes the data of a node.
	 * @return whether it exists; false also if the session has ended
	 */
	CompletableFuture<Boolean> write(String path, byte[] data) {
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		long sent = this.clock.getAsLong();
		this.handle.setData(path, data, -1,
				(code, written, context, stat) -> completeWrite(result, code, written, sent), null);
		return result;
	}

	private void completeWrite(CompletableFuture<Boolean> result, int code, String path, long sent) {
		written(code, sent);
		switch (Code.get(code)) {
			case OK -> result.complete(true);
			case NONODE, SESSIONEXPIRED -> result.complete(false);
			default -> fail(result, code, path);
		}
	}

	private void written(int code, long sent) {
		if (IN_SESSION.contains(Code.get(code))) {
			this.proofs.add(sent, timeout());
		}
	}

	// reads

	/**
	 * Makes later reads show everything that was executed before, if the client may be
	 * connected to another server since, which may not have executed it yet.
	 * @return a stage that fails if they may not; then the result of a read must not be
	 * used, although it was sent after this
	 */
	private CompletableFuture<Boolean> syncIfBehind() {
		CompletableFuture<Boolean> result = new CompletableFuture<>();
		if (!this.behind) {
			result.complete(true);
			return result;
		}
		this.handle.sync("/", (code, path, context) -> {
			if (code == Code.OK.intValue()) {
				this.behind = false;
				result.complete(true);
			}
			else {
				fail(result, code, path);
			}
		}, null);
		return result;
	}

	/** The present server may not show everything, so the next read synchronizes. */
	void mayBeBehind() {
		this.behind = true;
	}

	/**
	 * Reads the names of the children of a node, which are none if it does not exist.
	 */
	CompletableFuture<List<String>> children(String path) {
		CompletableFuture<Boolean> synced = syncIfBehind();
		CompletableFuture<Optional<List<String>>> result = new CompletableFuture<>();
		this.handle.getChildren(path, false,
				(code, parent, context, children) -> completeRead(result, code, parent, children), null);
		return synced.thenCombine(result, (done, children) -> children.orElse(List.of()));
	}

	/**
	 * Reads the state of a node, which is empty if it does not exist.
	 */
	CompletableFuture<Optional<Stat>> stat(String path) {
		CompletableFuture<Boolean> synced = syncIfBehind();
		CompletableFuture<Optional<Stat>> result = new CompletableFuture<>();
		this.handle.exists(path, false, (code, node, context, stat) -> completeRead(result, code, node, stat), null);
		return synced.thenCombine(result, (done, stat) -> stat);
	}

	/**
	 * Reads a node, which is empty if it does not exist. Begins a watch if it does.
	 */
	CompletableFuture<Optional<Data>> data(String path, @Nullable Watcher watcher) {
		CompletableFuture<Boolean> synced = syncIfBehind();
		CompletableFuture<Optional<Data>> result = new CompletableFuture<>();
		this.handle.getData(path, watcher, (code, node, context, data, stat) -> completeRead(result, code, node,
				(data != null && stat != null) ? new Data(data, stat) : null), null);
		return synced.thenCombine(result, (done, data) -> data);
	}

	/**
	 * A node that was read.
	 *
	 * @param bytes its data
	 * @param stat its state
	 */
	record Data(byte[] bytes, Stat stat) {
	}

	/**
	 * Ends the watches of a node, on the server and in this process.
	 */
	void endWatches(String path) {
		this.handle.removeAllWatches(path, WatcherType.Data, true, (code, node, context) -> {
			// they may have ended already
		}, null);
	}

	private <T> void completeRead(CompletableFuture<Optional<T>> result, int code, String path, @Nullable T value) {
		if (code == Code.OK.intValue()) {
			result.complete(Optional.ofNullable(value));
		}
		else if (code == Code.NONODE.intValue()) {
			result.complete(Optional.empty());
		}
		else {
			fail(result, code, path);
		}
	}

	private void fail(CompletableFuture<?> result, int code, String path) {
		if (code == Code.CONNECTIONLOSS.intValue()) {
			mayBeBehind();
		}
		result.completeExceptionally(KeeperException.create(Code.get(code), path));
	}

}
