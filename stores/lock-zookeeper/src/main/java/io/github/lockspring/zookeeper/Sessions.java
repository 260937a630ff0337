package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.store.StoreTraits;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;

/**
 * The successive sessions of a client. Thread-safe.
 */
final class Sessions {

	private final CuratorFramework client;

	private final ZooKeeperStoreSettings settings;

	private final boolean owning;

	private final LongSupplier clock;

	private volatile @Nullable Session session;

	/** Also earlier ones that are not over, since a late thread may hold their handle. */
	private final Map<ZooKeeper, Session> sessions = new IdentityHashMap<>();

	private volatile StoreTraits traits;

	private final CompletableFuture<@Nullable Void> connected = new CompletableFuture<>();

	private final ThreadPoolExecutor thread = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(), new DaemonThreadFactory("lock-zookeeper-connect"));

	Sessions(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning, LongSupplier clock) {
		this.client = client;
		this.settings = settings;
		this.owning = owning;
		this.clock = clock;
		this.traits = traits(settings.sessionTimeout().toMillis());
		this.thread.allowCoreThreadTimeOut(true);
	}

	private static StoreTraits traits(long timeoutMillis) {
		return new StoreTraits(Duration.ofMillis(timeoutMillis), Duration.ofMillis(timeoutMillis).dividedBy(3), false,
				false);
	}

	StoreTraits traits() {
		return this.traits;
	}

	/**
	 * Returns the length of the lease that a renewal can prove at present.
	 */
	Duration lease(Duration ttl) {
		Session present = this.session;
		Duration lease = this.traits.lease(ttl);
		Duration proven = (present != null) ? Duration.ofNanos(present.lease()) : lease.dividedBy(3);
		return (proven.compareTo(lease) < 0) ? proven : lease;
	}

	void connectionLost() {
		Session present = this.session;
		if (present != null) {
			present.mayBeBehind();
		}
	}

	/** Starts the client, if this object owns it. */
	private synchronized void start() {
		if (this.owning && this.client.getState() == CuratorFrameworkState.LATENT) {
			this.client.start();
		}
	}

	/**
	 * Connects.
	 * @return a stage that completes with the first connection or after the connect
	 * timeout
	 */
	CompletionStage<@Nullable Void> connected() {
		if (!this.connected.isDone()) {
			this.connected.completeOnTimeout(null, this.settings.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
			present().thenRun(() -> {
				if (isConnected()) {
					welcome();
				}
			});
		}
		return this.connected.copy();
	}

	private boolean isConnected() {
		return this.client.getZookeeperClient().isConnected();
	}

	/** Reads the timeout of the session after the client has connected. */
	void welcome() {
		present().whenComplete((session, ex) -> this.connected.complete(null));
	}

	/**
	 * Returns the present session. A client without a connection may need some time,
	 * since it first closes a connection that has been silent for too long.
	 * @return a stage that fails with {@link LockUnavailableException} if there is no
	 * session
	 */
	CompletionStage<Session> present() {
		return isConnected() ? Stages.call(this::find) : CompletableFuture.supplyAsync(this::find, this.thread);
	}

	private Session find() {
		ZooKeeper handle;
		try {
			start();
			handle = this.client.getZookeeperClient().getZooKeeper();
		}
		catch (Exception ex) {
			throw ZooKeeperErrors.notConnected(ex);
		}
		Session present = this.session;
		if (present == null || present.handle() != handle) {
			present = session(handle);
		}
		int timeout = handle.getSessionTimeout();
		if (handle.getState().isConnected() && timeout != this.traits.shortestTtl().toMillis()) {
			this.traits = traits(timeout);
		}
		return present;
	}

	/**
	 * Returns the only session of a handle that is not over, since they are compared by
	 * identity.
	 */
	private synchronized Session session(ZooKeeper handle) {
		this.sessions.values().removeIf(Session::isOver);
		Session session = this.sessions.computeIfAbsent(handle, this::begin);
		this.session = session;
		return session;
	}

	private Session begin(ZooKeeper handle) {
		this.settings.authenticate(handle);
		return new Session(handle, this.clock);
	}

	void close() {
		Session present = this.session;
		if (present != null) {
			present.leave();
		}
		if (this.owning) {
			this.client.close();
		}
	}

}
