package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.queue.QueueLockStore;
import io.github.lockspring.store.DelegatingLockStore;
import org.jspecify.annotations.Nullable;

/**
 * Stores locks in etcd. The keys of one lock have a common prefix. The key that was
 * created first belongs to the owner; each waiting instance watches the key before its
 * own. Each key has a lease of its own. The fencing token is derived from the revision of
 * the key's creation.
 * <p>
 * Leases of etcd last for whole seconds, at least two: parts of a second are rounded up,
 * and a ttl below two seconds is rejected. A living process removes its keys when their
 * ttl has passed, so rounding matters only after a process has died.
 * <p>
 * Thread-safe. Connects with {@link #connected()} or the first request.
 *
 * @since 0.1
 */
public final class EtcdLockStore extends DelegatingLockStore {

	/** Long enough for a majority to agree and to write to disk. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

	private EtcdLockStore(EtcdServer server) {
		super(new QueueLockStore("etcd", server));
	}

	/**
	 * Creates a builder for a store with a client that the caller closes after the store.
	 * @param client the client; its namespace applies. It is never replaced, so after an
	 * outage it reconnects when it decides to
	 * @return the builder
	 */
	public static Builder builder(Client client) {
		return new Builder(Objects.requireNonNull(client, "client"), () -> client);
	}

	/**
	 * Creates a builder for a store with a client of its own, which the store closes. If
	 * no request has had a reply for 5 seconds, or for the connect timeout if that is
	 * longer, the store replaces the client.
	 * @param clients creates a client; called when the store is built, and on another
	 * thread for each replacement. If it throws then, the exception is logged and the
	 * present client stays in use
	 * @return the builder
	 */
	public static Builder builder(Supplier<Client> clients) {
		return new Builder(null, Objects.requireNonNull(clients, "clients"));
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
		 * Sets the longest wait for a reply of a server, two seconds by default. A
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
