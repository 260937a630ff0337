package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.queue.QueueLockStore;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

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
public final class EtcdLockStore implements LockStore {

	/** A write is a decision of a majority, and a disk of each. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private final QueueLockStore store;

	private EtcdLockStore(EtcdServer server) {
		this.store = new QueueLockStore("etcd", server);
	}

	/**
	 * Begins to build a store on a client that the caller closes after the store.
	 * @param client the client; its namespace applies. It is never replaced: after an
	 * outage it decides when it connects again
	 * @return the builder
	 */
	public static Builder builder(Client client) {
		return new Builder(Objects.requireNonNull(client, "client"), () -> client);
	}

	/**
	 * Begins to build a store with a client of its own, which it closes. When no request
	 * has had an answer for 5 seconds, or for the connect timeout if that is longer, it
	 * replaces the client by a new one.
	 * @param clients makes a client each time; called when the store is built, and by
	 * another thread for each replacement. What it throws then is logged, and the present
	 * client remains
	 * @return the builder
	 */
	public static Builder builder(Supplier<Client> clients) {
		return new Builder(null, Objects.requireNonNull(clients, "clients"));
	}

	@Override
	public StoreTraits traits() {
		return this.store.traits();
	}

	@Override
	public void connect() {
		this.store.connect();
	}

	@Override
	public void awaitConnection() {
		this.store.awaitConnection();
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		return this.store.acquire(request, timeout);
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		return this.store.release(request, timeout);
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		return this.store.renew(requests, timeout);
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.store.inbox(instance, listener);
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return this.store.inspector();
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		return this.store.health(timeout);
	}

	@Override
	public void close() {
		this.store.close();
	}

	/**
	 * Builds an {@link EtcdLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final @Nullable Client client;

		private final Supplier<Client> clients;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private Duration commandTimeout = DEFAULT_COMMAND_TIMEOUT;

		private Duration connectTimeout = StoreOptions.DEFAULT_CONNECT_TIMEOUT;

		private Builder(@Nullable Client client, Supplier<Client> clients) {
			this.client = client;
			this.clients = clients;
		}

		/**
		 * Sets the prefix of all keys in etcd, {@code lock:} by default.
		 * @param keyPrefix the prefix; not empty
		 * @return this builder
		 */
		public Builder keyPrefix(String keyPrefix) {
			this.keyPrefix = keyPrefix;
			return this;
		}

		/**
		 * Sets the longest wait for a response of a server, two seconds by default. A
		 * request for a lock never takes longer than a third of its ttl.
		 * @param commandTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder commandTimeout(Duration commandTimeout) {
			this.commandTimeout = commandTimeout;
			return this;
		}

		/**
		 * Sets how long the first request waits for a connection, five seconds by
		 * default.
		 * @param connectTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder connectTimeout(Duration connectTimeout) {
			this.connectTimeout = connectTimeout;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 */
		public EtcdLockStore build() {
			EtcdStoreSettings settings = new EtcdStoreSettings(this.keyPrefix, this.commandTimeout,
					this.connectTimeout);
			Duration patience = Collections.max(List.of(EtcdConnection.PATIENCE, this.connectTimeout));
			EtcdConnection connection = (this.client != null) ? new EtcdConnection(this.client, this.commandTimeout)
					: new EtcdConnection(this.clients, this.commandTimeout, patience);
			return new EtcdLockStore(new EtcdServer(connection, settings));
		}

	}

}
