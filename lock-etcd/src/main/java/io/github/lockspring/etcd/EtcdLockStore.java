package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.github.lockspring.internal.queue.QueueLockStore;

/**
 * Stores locks in etcd. The keys of one lock have a common prefix, in which the one that
 * was created first is that of the owner; each instance that waits watches the key before
 * its own. Each key has a lease of its own, and the fencing token is made of the revision
 * of its creation.
 * <p>
 * Leases of etcd last for whole seconds, two at least: parts of a second are rounded up,
 * and a ttl below two seconds cannot be given. A living process removes its keys when
 * their ttl is over, so rounding counts only where a process has died.
 * <p>
 * Thread-safe. Does not connect before {@link #connect()} or the first request.
 *
 * @since 0.1
 */
public final class EtcdLockStore extends QueueLockStore {

	private EtcdLockStore(EtcdServer server) {
		super("etcd", server);
	}

	/**
	 * Creates a store on a client that the caller closes after the store.
	 * @param client the client; its namespace applies. It is never replaced: after an
	 * outage it decides when it connects again
	 * @param settings the settings
	 * @return the store, to be closed by the caller
	 */
	public static EtcdLockStore create(Client client, EtcdStoreSettings settings) {
		return new EtcdLockStore(new EtcdServer(new EtcdConnection(client, settings.commandTimeout()), settings));
	}

	/**
	 * Creates a store with a client of its own, which it closes. When no request has had
	 * an answer for 5 seconds, or for the connect timeout if that is longer, it replaces
	 * the client by a new one.
	 * @param clients makes a client each time; called at once, and by another thread for
	 * each replacement. What it throws then is logged, and the present client remains
	 * @param settings the settings
	 * @return the store, to be closed by the caller
	 */
	public static EtcdLockStore createOwning(Supplier<Client> clients, EtcdStoreSettings settings) {
		Duration patience = Collections.max(List.of(EtcdConnection.PATIENCE, settings.connectTimeout()));
		return new EtcdLockStore(
				new EtcdServer(new EtcdConnection(clients, settings.commandTimeout(), patience), settings));
	}

}
