package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.sql.RowKey;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Stores locks in a table. Each lock has a row, which is inserted when it is acquired for
 * the first time and stays until it has not been used for a long time: it carries the
 * last fencing token. Only the clock of the database server counts. The scripts that
 * create the table are next to this class ({@code lock-lease-postgresql.sql} and others),
 * to be run by Flyway, Liquibase or by hand.
 * <p>
 * Every request is executed on a connection of the store, commits by itself, and never
 * takes part in a transaction of the caller. Up to half of the connections stay open for
 * callers that execute their requests themselves. The {@link DataSource} should be used
 * by this store only: callers that wait for a lock with all connections of a shared pool
 * in their hands would keep the holder from releasing it.
 * <p>
 * Waiters stand in a table too. A release hands the lock over to the first of them in the
 * statement that ends its own ownership. PostgreSQL notifies its instance; with other
 * databases, each instance polls with one query for all of its waiters. The listening
 * connection is taken from the same source, in addition to the others, while callers
 * wait.
 * <p>
 * For PostgreSQL, H2, MariaDB and MySQL; another database is refused by the first
 * request. Thread-safe. Does not connect before that.
 *
 * @since 0.1
 */
public final class JdbcLockStore implements LockStore {

	/**
	 * The default name of the table.
	 */
	public static final String DEFAULT_TABLE = "lock_lease";

	/** Enough for callers of an application that have a lock, and few for a database. */
	private static final int DEFAULT_CONNECTIONS = 5;

	/** Longer than any process is paused, and than a clock is set back. */
	private static final Duration DEFAULT_PURGE_AFTER = Duration.ofDays(30);

	private static final Duration INBOX_IDLE = Duration.ofSeconds(60);

	private static final boolean POSTGRES_DRIVER = ClassUtils.isPresent("org.postgresql.PGConnection",
			JdbcLockStore.class.getClassLoader());

	private final DataSource dataSource;

	private final JdbcStoreSettings settings;

	private final LentConnections lent;

	private final JdbcExecutor requests;

	/* Separate, so a lease is not lost while callers keep all other connections busy */
	private final JdbcExecutor renewals;

	private final FirstConnection firstConnection;

	/** Null to keep all rows. */
	private final @Nullable LockTablePurge purge;

	/** Those that are open. */
	private final Map<String, JdbcInbox> inboxes = new ConcurrentHashMap<>();

	/**
	 * The keys of users that their rows do not tell, for as long as the engine has the
	 * token.
	 */
	private final Map<OwnerToken, String> hashedKeys = Collections.synchronizedMap(new WeakHashMap<>());

	private volatile @Nullable LockTable table;

	private JdbcLockStore(DataSource dataSource, @Nullable String name, JdbcStoreSettings settings) {
		this.dataSource = dataSource;
		this.settings = settings;
		this.lent = new LentConnections((settings.connections() - 1) / 2);
		String database = (name != null) ? " (" + name + ")" : "";
		this.requests = new JdbcExecutor(dataSource, settings.table(), database, "lock-jdbc",
				settings.connections() - 1, this.lent);
		this.renewals = new JdbcExecutor(dataSource, settings.table(), database, "lock-jdbc-renewal", 1, this.lent);
		this.firstConnection = new FirstConnection(() -> this.requests.execute(this::probe, settings.connectTimeout()),
				settings.connectTimeout());
		Duration purgeAfter = settings.purgeAfter();
		this.purge = (purgeAfter != null)
				? LockTablePurge.start(this.requests, settings.table(), settings.keyPrefix(), purgeAfter, this::dialect)
				: null;
	}

	/** Reads both tables, so that a missing one is known before the first lock. */
	private boolean probe(JdbcCall call) throws SQLException {
		return table(call).rows(call, "").isEmpty();
	}

	/**
	 * Begins to build a store.
	 * @param dataSource the source of connections, best a pool used by this store only;
	 * it stays the caller's to close, after the store
	 * @return the builder
	 */
	public static Builder builder(DataSource dataSource) {
		return new Builder(dataSource);
	}

	@Override
	public StoreTraits traits() {
		return StoreTraits.exact();
	}

	@Override
	public void connect() {
		this.firstConnection.open();
	}

	@Override
	public void awaitConnection() {
		this.firstConnection.await();
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		String row = row(request.key());
		if (!row.equals(this.settings.keyPrefix() + request.key())) {
			this.hashedKeys.put(request.token(), request.key());
		}
		JdbcInbox inbox = this.inboxes.get(request.token().instance());
		if (inbox == null) {
			return send(request, row, timeout);
		}
		// no message about what this request does
		inbox.forget(request.token());
		boolean acquired = false;
		try {
			AcquireResult result = send(request, row, timeout);
			acquired = result instanceof AcquireResult.Acquired;
			return result;
		}
		finally {
			if (acquired) {
				inbox.acquired(request.key(), request.token());
			}
			else if (isInformed(request.queueMode())) {
				// without a result it may be queued too
				inbox.waits(request.key(), request.token());
			}
		}
	}

	private AcquireResult send(AcquireRequest request, String row, Duration timeout) {
		return this.requests.execute((call) -> table(call).acquire(call, row, request.token().toString(),
				micros(request.ttl()), request.queueMode()), timeout);
	}

	private static boolean isInformed(QueueMode mode) {
		return mode == QueueMode.JOIN || mode == QueueMode.REJOIN;
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		JdbcInbox inbox = this.inboxes.get(request.token().instance());
		if (inbox != null) {
			inbox.forget(request.token());
		}
		AtomicInteger sends = new AtomicInteger();
		ReleaseResult result = this.requests.execute((call) -> {
			sends.incrementAndGet();
			return table(call).release(call, row(request.key()), request.token().toString(), request.lastFencingToken(),
					micros(request.keep()));
		}, timeout);
		return (result instanceof ReleaseResult.NotOwner notOwner)
				? ReleaseResult.NotOwner.of(notOwner.fencingToken(), sends.get()) : result;
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		if (requests.isEmpty()) {
			return List.of();
		}
		List<Map<String, Object>> values = requests.stream()
			.map((request) -> Map.<String, Object>of("key", row(request.key()), "token", request.token().toString(),
					"ttl", micros(request.ttl())))
			.toList();
		// in one order everywhere: a batch may be one transaction, and keeps its rows
		// locked
		List<Integer> order = IntStream.range(0, values.size())
			.boxed()
			.sorted(Comparator.comparing((index) -> (String) values.get(index).get("key")))
			.toList();
		int[] counts = this.renewals.execute(
				(call) -> call.updateAll(table(call).renewal(), order.stream().map(values::get).toList()), timeout);
		RenewResult[] results = new RenewResult[counts.length];
		for (int i = 0; i < counts.length; i++) {
			results[order.get(i)] = (counts[i] > 0) ? RenewResult.RENEWED : RenewResult.NOT_OWNER;
		}
		return new ArrayList<>(List.of(results));
	}

	private String row(String key) {
		return RowKey.of(this.settings.keyPrefix() + key);
	}

	// a duration below a microsecond is still one: zero would mean none
	private static long micros(Duration duration) {
		return duration.isZero() ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMicros(duration.toNanos()));
	}

	private LockTable table(JdbcCall call) throws SQLException {
		LockTable present = this.table;
		if (present == null) {
			Dialect dialect = dialect(call);
			present = new LockTable(this.settings.table(), dialect,
					(dialect == Dialect.POSTGRESQL) ? new PostgresNotifications() : LockTable.Notifications.NONE);
			this.table = present;
		}
		return present;
	}

	private Dialect dialect(JdbcCall call) throws SQLException {
		String product = call.connection().getMetaData().getDatabaseProductName();
		return Dialect.of(product).orElseThrow(() -> JdbcErrors.unknownDatabase(product));
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return Optional.of(new JdbcInbox(this.inboxes, instance, listener, () -> transport(instance), INBOX_IDLE));
	}

	/** Notifications need this database, this driver, and a connection to it. */
	private JdbcInbox.Transport transport(String instance) {
		return this.requests.execute((call) -> {
			Dialect dialect = dialect(call);
			if (dialect == Dialect.POSTGRESQL && POSTGRES_DRIVER && PostgresListener.canListen(call.connection())) {
				return new PostgresListener(this.dataSource, this.requests, instance, this.settings.keyPrefix(),
						this.hashedKeys);
			}
			return GrantPoller.of(this.requests, this.settings.table(), dialect, this::row);
		}, this.settings.connectTimeout());
	}

	/**
	 * Reads both tables.
	 */
	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		StoreHealth.Server server;
		try {
			this.requests.execute(this::probe, timeout);
			server = new StoreHealth.Server("database", null, null, List.of());
		}
		catch (LockUnavailableException ex) {
			server = StoreHealth.Server.unusable("database", String.valueOf(ex.getMessage()));
		}
		return Optional.of(new StoreHealth(List.of(server), 1, true));
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(new Inspector());
	}

	/**
	 * Ends the threads of this store. Does not close the {@link DataSource}.
	 */
	@Override
	public void close() {
		if (this.purge != null) {
			this.purge.close();
		}
		this.inboxes.values().forEach(JdbcInbox::close);
		this.lent.close();
		this.requests.close();
		this.renewals.close();
	}

	/** Knows the instances by their identity only. */
	private final class Inspector implements LockStoreInspector {

		@Override
		public Optional<StoredLock> find(String key, Duration timeout) {
			return JdbcLockStore.this.requests
				.execute((call) -> LockQueue.describe(key, table(call).rows(call, row(key))), timeout);
		}

		/* The statements that the owner itself would send */
		@Override
		public boolean forceRelease(StoredLock seen, Duration timeout) {
			return JdbcLockStore.this.requests.execute(
					(call) -> table(call).release(call, row(seen.key()), seen.owner(), seen.fencingToken() + 1, 0),
					timeout) instanceof ReleaseResult.Released;
		}

	}

	/**
	 * Builds a {@link JdbcLockStore}. Not thread-safe.
	 */
	public static final class Builder {

		private final DataSource dataSource;

		private @Nullable String name;

		private String keyPrefix = StoreOptions.DEFAULT_KEY_PREFIX;

		private String table = DEFAULT_TABLE;

		private int connections = DEFAULT_CONNECTIONS;

		private Duration connectTimeout = StoreOptions.DEFAULT_CONNECT_TIMEOUT;

		private @Nullable Duration purgeAfter = DEFAULT_PURGE_AFTER;

		private Builder(DataSource dataSource) {
			this.dataSource = Objects.requireNonNull(dataSource, "dataSource");
		}

		/**
		 * Names the database in messages.
		 * @param name its address, for example, without a password
		 * @return this builder
		 */
		public Builder name(String name) {
			this.name = name;
			return this;
		}

		/**
		 * Sets the prefix of all keys, {@code lock:} by default.
		 * @param keyPrefix the prefix; not empty
		 * @return this builder
		 */
		public Builder keyPrefix(String keyPrefix) {
			this.keyPrefix = keyPrefix;
			return this;
		}

		/**
		 * Sets the name of the table, {@value JdbcLockStore#DEFAULT_TABLE} by default.
		 * @param table the name, unquoted, preceded by a schema and a dot where needed
		 * @return this builder
		 */
		public Builder table(String table) {
			this.table = table;
			return this;
		}

		/**
		 * Sets the largest number of connections in use at the same time, five by
		 * default. One of them is for renewals only. The {@code DataSource} should offer
		 * as many and, for PostgreSQL, one more.
		 * @param connections the number of connections, at least two
		 * @return this builder
		 */
		public Builder connections(int connections) {
			this.connections = connections;
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
		 * Sets how long ago a free lock was acquired last when its row is deleted, 30
		 * days by default. Needs the right to DELETE.
		 * @param purgeAfter the age, at least an hour, and longer than the clock of the
		 * server may ever be set back; null to keep all rows
		 * @return this builder
		 */
		public Builder purgeAfter(@Nullable Duration purgeAfter) {
			this.purgeAfter = purgeAfter;
			return this;
		}

		/**
		 * Creates the store. Does not connect.
		 * @return the store, to be closed by the caller
		 * @throws IllegalArgumentException if an option is invalid
		 */
		public JdbcLockStore build() {
			return new JdbcLockStore(this.dataSource, this.name, new JdbcStoreSettings(this.keyPrefix, this.table,
					this.connections, this.connectTimeout, this.purgeAfter));
		}

	}

}
