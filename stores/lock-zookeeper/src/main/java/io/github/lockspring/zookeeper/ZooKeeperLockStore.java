package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.Objects;
import java.util.function.LongSupplier;

import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.queue.QueueLockStore;
import io.github.lockspring.store.DelegatingLockStore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.jspecify.annotations.Nullable;

/**
 * Stores locks in ZooKeeper. Each lock is a container node with ephemeral sequential
 * children: first the owner's node, then those of the waiting instances, each of which
 * watches its predecessor. The fencing token is derived from the {@code czxid} of the
 * owner's node.
 * <p>
 * The session acts as the lease: a process that dies keeps its locks until its session
 * ends, so a ttl cannot be shorter than the session timeout. A lease lasts for a third of
 * the session timeout, counted from before the last successful write, and for a sixth
 * until the store was used for so long. So it ends by the clock of this process before
 * the server can end the session. A living process removes its nodes when their ttl has
 * passed.
 * <p>
 * Does not use the client's retries: before it repeats a request without a result, it
 * checks whether the request was executed. Thread-safe. Connects with
 * {@link #connected()} or the first request.
 *
 * @since 0.1
 */
public final class ZooKeeperLockStore extends DelegatingLockStore {

	/** Longer than most pauses. Servers with ticks of two seconds allow up to 40. */
	private static final Duration DEFAULT_SESSION_TIMEOUT = Duration.ofSeconds(15);

	private ZooKeeperLockStore(ZooKeeperEntryServer server, LongSupplier clock) {
		super(new QueueLockStore("ZooKeeper", server, clock));
	}

	/**
	 * Creates a builder for a store with a client that the caller starts, and closes
	 * after the store. The client's namespace applies, but not its ACLs.
	 * @param client the client
	 * @return the builder
	 */
	public static Builder builder(CuratorFramework client) {
		return new Builder(Objects.requireNonNull(client, "client"), "");
	}

	/**
	 * Creates a builder for a store with a client of its own.
	 * @param connectString the servers: {@code host:port}, separated by commas, followed
	 * by the path of a chroot if needed
	 * @return the builder
	 */
	public static Builder builder(String connectString) {
		return new Builder(null, Objects.requireNonNull(connectString, "connectString"));
	}

	/**
	 * Creates a store. Does not connect.
	 * @param owning whether the store starts and closes the client
	 * @param clock nanoseconds since an arbitrary moment
	 */
	static ZooKeeperLockStore create(CuratorFramework client, ZooKeeperStoreSettings settings, boolean owning,
			LongSupplier clock) {
		return new ZooKeeperLockStore(new ZooKeeperEntryServer(client, settings, owning, clock), clock);
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

		private long tokenFloor;

		private LongSupplier clock = MonotonicClock.SYSTEM;

		private Builder(@Nullable CuratorFramework client, String connectString) {
			this.client = client;
			this.connectString = connectString;
		}

		/**
		 * Sets the prefix of all keys, {@code lock:} by default. The locks are below a
		 * node with the name of the prefix without its last colon: {@code /lock}.
		 * @param keyPrefix the prefix; not empty
		 * @return this builder
		 */
		public Builder keyPrefix(String keyPrefix) {
			this.keyPrefix = keyPrefix;
			return this;
		}

		/**
		 * Sets the session timeout that the client requests, 15 seconds by default. The
		 * server may choose another one, which applies from the first connection on.
		 * @param sessionTimeout the timeout; if the caller provides the client, that of
		 * the client
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
		 * Sets the credentials of the sessions. Only their creator can then use the
		 * nodes; without credentials, everybody can.
		 * @param auth a scheme, a colon and the credentials, such as
		 * {@code digest:user:password}
		 * @return this builder
		 */
		public Builder auth(String auth) {
			this.auth = auth;
			return this;
		}

		/**
		 * Restricts the nodes to their creator even without {@link #auth(String)}, for a
		 * client that authenticates in another way, such as SASL.
		 * @return this builder
		 */
		public Builder creatorOnly() {
			this.creatorOnly = true;
			return this;
		}

		/**
		 * Sets a number that is added to the {@code czxid} of each node, 0 by default, so
		 * that fencing tokens continue to increase if the servers begin anew or are
		 * restored from a backup. A fencing token is 1,024 times the sum, plus at most
		 * 1,000; so divide the largest token that was ever given by 1,024 and add 1.
		 * @param tokenFloor the number, the same in all instances; at most 2^52
		 * @return this builder
		 */
		public Builder tokenFloor(long tokenFloor) {
			this.tokenFloor = tokenFloor;
			return this;
		}

		/** Sets the clock, in nanoseconds. */
		Builder clock(LongSupplier clock) {
			this.clock = clock;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 */
		public ZooKeeperLockStore build() {
			ZooKeeperStoreSettings settings = new ZooKeeperStoreSettings(this.keyPrefix, this.sessionTimeout,
					this.connectTimeout, this.auth, this.creatorOnly, this.tokenFloor);
			return (this.client != null) ? create(this.client, settings, false, this.clock)
					: create(ownClient(), settings, true, this.clock);
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
