package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

import io.etcd.jetcd.Client;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.queue.QueueLockStore;
import io.github.lockspring.store.DelegatingLockStore;
import io.github.lockspring.store.StoreHealth;
import org.jspecify.annotations.Nullable;

/**
 * Stores locks in etcd. The keys of one lock have a common prefix. The key that was
 * created first belongs to the owner; each waiting instance watches the key before its
 * own. The fencing token is derived from the revision of the key's creation.
 * <p>
 * The keys of a store share a few leases, one for each length. A new key is on one of at
 * most 10 seconds; the first renewal of a longer ttl moves it to a longer one. Lengths
 * are rounded up to 2, 3, 5, 10, 15, 30, 60, 120, 300 or 600 seconds, and above that to a
 * doubled one; a ttl below two seconds is rejected. A living process removes its keys
 * when their ttl has passed, so rounding matters only after a process has died.
 * <p>
 * Thread-safe. Connects with {@link #connected()} or the first request.
 *
 * @since 0.1
 */
public final class EtcdLockStore extends DelegatingLockStore {

	/** Long enough for a majority to agree and to write to disk. */
	private static final Duration DEFAULT_COMMAND_TIMEOUT = Duration.ofSeconds(2);

	/**
	 * The client loads and compiles more than a second's worth of classes with its first
	 * requests, which takes ten times as long where many applications start at once.
	 */
	private static final Duration DEFAULT_CONNECT_TIMEOUT = Duration.ofSeconds(20);

	private final EtcdEntryServer server;

	private EtcdLockStore(EtcdEntryServer server, LongSupplier clock) {
		super(new QueueLockStore("etcd", server, clock));
		this.server = server;
	}

	/** Also warns of servers with a known defect. */
	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		return super.health(timeout).map((health) -> {
			List<String> warnings = health.isUsable() ? Stages.join(
					this.server.versions()
						.warnings()
						.toCompletableFuture()
						.copy()
						.completeOnTimeout(List.of(), timeout.toMillis(), TimeUnit.MILLISECONDS),
					timeout.plusSeconds(1)) : List.of();
			return new StoreHealth(health.servers()
				.stream()
				.map((each) -> new StoreHealth.Server(each.name(), each.problem(), each.time(), warnings))
				.toList(), health.required(), health.messages());
		});
	}

	/**
	 * Creates a builder for a store with a client that the caller closes after the store.
	 * @param client the client; its namespace applies. It is never replaced, so after an
	 * outage it reconnects when it decides to, and it chooses the member that gets a
	 * request: while that one does not answer, locks may be lost. It should send the
	 * header {@code hasleader: true}, and must not repeat transactions whose outcome is
	 * unknown, as jetcd itself does not
	 * @return the builder
	 */
	public static Builder builder(Client client) {
		return new Builder(Objects.requireNonNull(client, "client"), List.of());
	}

	/**
	 * Creates a builder for a store with clients of its own, which the store closes: one
	 * for each member of the cluster. If a member does not answer, the next one is used;
	 * renewals are sent through another one after a second at the latest. If no request
	 * to a member has had a reply for 5 seconds, or for the connect timeout if that is
	 * longer, the store replaces its client.
	 * <p>
	 * Clients should send the header {@code hasleader: true}, so that a member without a
	 * majority answers at once, and must not repeat transactions whose outcome is
	 * unknown. jetcd itself does not.
	 * @param members for each member a supplier of its clients; called when the store is
	 * built, and on another thread for each replacement. If it throws then, the exception
	 * is logged and the present client stays in use
	 * @return the builder
	 */
	public static Builder builder(List<? extends Supplier<Client>> members) {
		if (members.isEmpty()) {
			throw new IllegalArgumentException("members must not be empty");
		}
		return new Builder(null, List.copyOf(members));
	}

	/**
	 * Creates a builder for a store with a client of its own, as {@link #builder(List)}
	 * does for several members.
	 * @param member creates a client
	 * @return the builder
	 */
	public static Builder builder(Supplier<Client> member) {
		return builder(List.of(Objects.requireNonNull(member, "member")));
	}

	/**
	 * Builds an {@link EtcdLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final @Nullable Client client;

		private final List<Supplier<Client>> members;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private Duration commandTimeout = DEFAULT_COMMAND_TIMEOUT;

		private Duration connectTimeout = DEFAULT_CONNECT_TIMEOUT;

		private long tokenFloor;

		private LongSupplier clock = MonotonicClock.SYSTEM;

		private Builder(@Nullable Client client, List<Supplier<Client>> members) {
			this.client = client;
			this.members = members;
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
		 * Sets how long the first request waits for a connection and a lease, twenty
		 * seconds by default. A refused connection ends the wait.
		 * @param connectTimeout the timeout, at least a millisecond
		 * @return this builder
		 */
		public Builder connectTimeout(Duration connectTimeout) {
			this.connectTimeout = connectTimeout;
			return this;
		}

		/**
		 * Sets a number that is added to the revisions of etcd for fencing tokens, zero
		 * by default: a token is the sum, times 1,024, plus the hand-offs. Needed if
		 * revisions begin again, because a cluster was restored from a backup without
		 * {@code --bump-revision}, or another store was used before: then the largest
		 * token so far, divided by 1,024 and rounded up. All instances need the same
		 * number.
		 * @param tokenFloor the number, 0 to 2^42
		 * @return this builder
		 */
		public Builder tokenFloor(long tokenFloor) {
			this.tokenFloor = tokenFloor;
			return this;
		}

		/** Sets the clock, which has to count the time of suspensions. */
		Builder clock(LongSupplier clock) {
			this.clock = clock;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 */
		public EtcdLockStore build() {
			EtcdStoreSettings settings = new EtcdStoreSettings(this.keyPrefix, this.commandTimeout, this.connectTimeout,
					this.tokenFloor);
			List<EtcdConnection> connections = (this.client != null)
					? List.of(new EtcdConnection(this.client, this.commandTimeout))
					: this.members.stream()
						.map((member) -> new EtcdConnection(member, this.commandTimeout, EtcdConnection.PATIENCE,
								this.connectTimeout))
						.toList();
			// spreads the instances
			int first = ThreadLocalRandom.current().nextInt(connections.size());
			return new EtcdLockStore(new EtcdEntryServer(new EtcdMembers(connections, first), settings, this.clock),
					this.clock);
		}

	}

}
