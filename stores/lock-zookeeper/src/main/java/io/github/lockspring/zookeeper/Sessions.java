package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.StoreTraits;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.imps.CuratorFrameworkState;
import org.apache.zookeeper.ZooKeeper;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sessions of a client, one after the other. Thread-safe.
 */
final class Sessions {

	private static final int RECENT = 4;

	private static final Logger logger = LoggerFactory.getLogger(Sessions.class);

	private final CuratorFramework client;

	private final ZooKeeperStoreSettings settings;

	private final boolean owning;

	private volatile @Nullable Session session;

	/** A thread may be late, with a handle of before. */
	private final Deque<Session> recent = new ArrayDeque<>();

	private volatile StoreTraits traits;

	private volatile boolean connected;

	Sessions(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning) {
		this.client = client;
		this.settings = settings;
		this.owning = owning;
		this.traits = traits(settings.sessionTimeout().toMillis());
	}

	private static StoreTraits traits(long timeoutMillis) {
		return new StoreTraits(Duration.ofMillis(timeoutMillis), Duration.ofMillis(1),
				Duration.ofNanos(Session.lease(timeoutMillis)));
	}

	StoreTraits traits() {
		return this.traits;
	}

	/** Starts the client, if it is this object's own. */
	synchronized void connect() {
		if (this.owning && this.client.getState() == CuratorFrameworkState.LATENT) {
			this.client.start();
		}
	}

	/** Waits for the first connection. */
	void await() {
		if (this.connected) {
			return;
		}
		connect();
		try {
			this.client.blockUntilConnected((int) this.settings.connectTimeout().toMillis(), TimeUnit.MILLISECONDS);
			this.connected = true;
			present();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		catch (RuntimeException ex) {
			logger.debug("Not connected", ex);
		}
	}

	/**
	 * Returns the present session.
	 * @throws LockUnavailableException if there is none
	 */
	Session present() {
		connect();
		ZooKeeper handle;
		try {
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

	/** One for each handle: entries are compared with the present one. */
	private synchronized Session session(ZooKeeper handle) {
		Session session = this.recent.stream()
			.filter((each) -> each.handle() == handle)
			.findFirst()
			.orElseGet(() -> begin(handle));
		this.recent.remove(session);
		this.recent.addFirst(session);
		while (this.recent.size() > RECENT) {
			this.recent.removeLast();
		}
		this.session = session;
		return session;
	}

	private Session begin(ZooKeeper handle) {
		this.settings.authenticate(handle);
		return new Session(handle);
	}

	void close() {
		if (this.owning) {
			this.client.close();
		}
	}

}
