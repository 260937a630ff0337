package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

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
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.jspecify.annotations.Nullable;

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
public final class ZooKeeperLockStore implements LockStore {

	/** Longer than most pauses; servers with ticks of two seconds give up to 40. */
	private static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(15);

	private final QueueLockStore store;

	private ZooKeeperLockStore(ZooKeeperServer server) {
		this.store = new QueueLockStore("ZooKeeper", server);
	}

	/**
	 * Begins to build a store on a client that the caller has started, and closes after
	 * the store. Its namespace applies; its ACLs do not.
	 * @param client the client
	 * @return the builder
	 */
	public static Builder builder(CuratorFramework client) {
		return new Builder(Objects.requireNonNull(client, "client"), "");
	}

	/**
	 * Begins to build a store with a client of its own.
	 * @param connectString the servers: {@code host:port}, separated by commas, with the
	 * path of a chroot at the end where needed
	 * @return the builder
	 */
	public static Builder builder(String connectString) {
		return new Builder(null, Objects.requireNonNull(connectString, "connectString"));
	}

	/**
	 * Creates a store. Does not connect.
	 * @param owning whether the client is the store's to start and to close
	 */
	static ZooKeeperLockStore create(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning) {
		return new ZooKeeperLockStore(new ZooKeeperServer(client, settings, owning));
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
	 * Builds a {@link ZooKeeperLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final @Nullable CuratorFramework client;

		private final String connectString;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private Duration sessionTimeout = DEFAULT_SESSION_TIMEOUT;

		private Duration connectTimeout = StoreOptions.DEFAULT_CONNECT_TIMEOUT;

		private @Nullable String auth;

		private boolean creatorOnly;

		private Builder(@Nullable CuratorFramework client, String connectString) {
			this.client = client;
			this.connectString = connectString;
		}

		/**
		 * Sets the prefix of all keys, {@code lock:} by default. The locks are below the
		 * node of that name, without the colon at its end: {@code /lock}.
		 * @param keyPrefix the prefix; not empty
		 * @return this builder
		 */
		public Builder keyPrefix(String keyPrefix) {
			this.keyPrefix = keyPrefix;
			return this;
		}

		/**
		 * Sets the session timeout that the client requests, 15 seconds by default; the
		 * server may decide on another one, which counts from the first connection on.
		 * @param sessionTimeout the timeout; that of the client, if it is the caller's
		 * @return this builder
		 */
		public Builder sessionTimeout(Duration sessionTimeout) {
			this.sessionTimeout = sessionTimeout;
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
		 * Sets the credentials with which sessions authenticate. The nodes then belong to
		 * their creator; without credentials everybody may use them.
		 * @param auth a scheme, a colon and the credentials, such as
		 * {@code digest:user:password}
		 * @return this builder
		 */
		public Builder auth(String auth) {
			this.auth = auth;
			return this;
		}

		/**
		 * Lets the nodes belong to their creator also without {@link #auth(String)}: for
		 * a client that authenticates in another way, such as SASL.
		 * @return this builder
		 */
		public Builder creatorOnly() {
			this.creatorOnly = true;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 */
		public ZooKeeperLockStore build() {
			ZooKeeperStoreSettings settings = new ZooKeeperStoreSettings(this.keyPrefix, this.sessionTimeout,
					this.connectTimeout, this.auth, this.creatorOnly);
			return (this.client != null) ? create(this.client, settings, false) : create(ownClient(), settings, true);
		}

		private CuratorFramework ownClient() {
			return CuratorFrameworkFactory.builder()
				.connectString(this.connectString)
				.sessionTimeoutMs((int) this.sessionTimeout.toMillis())
				.connectionTimeoutMs((int) this.connectTimeout.toMillis())
				// the store repeats its requests itself
				.retryPolicy(new RetryOneTime(1000))
				.build();
		}

	}

}
