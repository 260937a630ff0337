package io.github.lockspring.zookeeper;

import io.github.lockspring.internal.queue.QueueLockStore;
import org.apache.curator.framework.CuratorFramework;

/**
 * Stores locks in ZooKeeper. Each lock is a container node, whose children are ephemeral
 * sequential nodes: that of the owner, and behind it those of the instances that wait,
 * each of which watches the one before it. The fencing token is made of the {@code czxid}
 * of the owner's node.
 * <p>
 * The lease is the session: a process that dies keeps its locks until its session ends,
 * and no ttl below the session timeout can be given. A lease lasts for half of the
 * session timeout, from before the last write that the session has certainly made; so it
 * ends by the clock of this process before the server can end the session. Beyond that, a
 * living process removes its nodes when their ttl is over.
 * <p>
 * The client's retries are not used: what had no answer is looked for before it is
 * repeated. Thread-safe. Does not connect before {@link #connect()} or the first request.
 *
 * @since 0.1
 */
public final class ZooKeeperLockStore extends QueueLockStore {

	private ZooKeeperLockStore(ZooKeeperServer server) {
		super("ZooKeeper", server);
	}

	/**
	 * Creates a store on a client that the caller has started, and closes after the
	 * store. Its namespace applies; its ACLs do not.
	 * @param client the client
	 * @param settings the settings
	 * @return the store, to be closed by the caller
	 */
	public static ZooKeeperLockStore create(CuratorFramework client, ZooKeeperStoreSettings settings) {
		return new ZooKeeperLockStore(new ZooKeeperServer(client, settings, false));
	}

	/**
	 * Creates a store with a client of its own, which it starts and closes.
	 * @param client a client that was not started
	 * @param settings the settings
	 * @return the store, to be closed by the caller
	 */
	public static ZooKeeperLockStore createOwning(CuratorFramework client, ZooKeeperStoreSettings settings) {
		return new ZooKeeperLockStore(new ZooKeeperServer(client, settings, true));
	}

}
