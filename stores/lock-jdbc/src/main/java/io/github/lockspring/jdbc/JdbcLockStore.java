package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.WeakHashMap;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.FirstConnection;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.internal.sql.RowKey;
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
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.StoredLock;
import org.jspecify.annotations.Nullable;

import org.springframework.util.ClassUtils;

/**
 * Stores locks in a table of PostgreSQL, H2, MariaDB or MySQL. Each lock has a row,
 * inserted when the lock is acquired for the first time. The row keeps the last fencing
 * token and is deleted after a long time without use. Only the clock of the database
 * server counts. The scripts that create the tables are next to this class
 * ({@code lock-lease-postgresql.sql} and others); run them with Flyway, Liquibase or by
 * hand.
 * <p>
 * Every request runs on the thread that sends it, on a connection of the
 * {@link DataSource}. It commits by itself and never takes part in a transaction of the
 * caller. At the timeout of the request, the socket timeout of the driver ends a
 * statement; an embedded database has none and ends it up to a second later. A request
 * may last longer by the time that the source takes to provide a connection, so the
 * timeout of a pool should be short. An interrupt does not end a request. H2 closes a
 * database in a file if a thread is interrupted during a statement, unless the URL begins
 * with {@code jdbc:h2:async:}.
 * <p>
 * Use a source for this store only. If callers that wait for a lock occupied all
 * connections of a shared pool, its holder could not release it.
 * <p>
 * A second table contains the waiters. A release ends the ownership and hands the lock
 * over to the first waiter in one statement. PostgreSQL notifies the waiter's instance;
 * with other databases, each instance polls with one query for all its waiters. While
 * callers wait, PostgreSQL needs one more connection of the source for listening.
 * <p>
 * Connects with the first request, which rejects other databases. Thread-safe.
 *
 * @since 0.1
 */
public final class JdbcLockStore implements LockStore {

	/**
	 * The default name of the table.
	 */
	public static final String DEFAULT_TABLE = "lock_lease";

	/** Enough for the lock holders of an application, and few for a database. */
	private static final int DEFAULT_CONNECTIONS = 5;

	/** Longer than any pause of a process, or than a clock is ever set back. */
	private static final Duration DEFAULT_PURGE_AFTER = Duration.ofDays(30);

	private static final Duration INBOX_IDLE = Duration.ofSeconds(60);

	private static final boolean POSTGRES_DRIVER = ClassUtils.isPresent("org.postgresql.PGConnection",
			JdbcLockStore.class.getClassLoader());

	private final DataSource dataSource;

	private final JdbcStoreSettings settings;

	private final JdbcExecutor requests;

	/* One connection, so that no lease is lost while callers use all others */
	private final JdbcExecutor renewals;

	private final FirstConnection first;

	/** Null to keep all rows. */
	private final @Nullable LockTablePurge purge;

	/** The open inboxes, by instance. */
	private final Map<String, JdbcInbox> inboxes = new ConcurrentHashMap<>();

	/**
	 * The users' keys whose rows contain only a hash, for as long as the engine uses the
	 * token.
	 */
	private final Map<OwnerToken, String> hashedKeys = Collections.synchronizedMap(new WeakHashMap<>());

	private final LateAcquisitions late = new LateAcquisitions(this::releaseNow);

	/** The places of queued tokens, for as long as the engine uses the token. */
	private final Map<OwnerToken, Place> places = Collections.synchronizedMap(new WeakHashMap<>());

	private volatile @Nullable LockTable table;

	private JdbcLockStore(DataSource dataSource, @Nullable String name, JdbcStoreSettings settings) {
		this.dataSource = dataSource;
		this.settings = settings;
		String database = (name != null) ? " (" + name + ")" : "";
		this.requests = new JdbcExecutor(dataSource, settings.table(), database, settings.connections() - 1);
		this.renewals = new JdbcExecutor(dataSource, settings.table(), database, 1);
		this.first = new FirstConnection("lock-jdbc-first",
				() -> Stages.call(() -> this.requests.execute(this::firstProbe, settings.connectTimeout())),
				settings.connectTimeout(), (problem) -> !problem.isPermanent());
		Duration purgeAfter = settings.purgeAfter();
		this.purge = (purgeAfter != null)
				? new LockTablePurge(this.requests, settings.table(), settings.keyPrefix(), purgeAfter, this::dialect)
				: null;
	}

	/** Reads both tables, to detect a missing one before the first lock. */
	private boolean probe(JdbcCall call) throws SQLException {
		return table(call).rows(call, "").isEmpty();
	}

	private boolean firstProbe(JdbcCall call) throws SQLException {
		boolean read = probe(call);
		if (dialect(call) != Dialect.H2) {
			SeveralPrimaries.warn(call);
		}
		return read;
	}

	/**
	 * Creates a builder.
	 * @param dataSource the source of connections, preferably a pool for this store only;
	 * the caller closes it after the store
	 * @return the builder
	 */
	public static Builder builder(DataSource dataSource) {
		return new Builder(dataSource);
	}

	@Override
	public StoreTraits traits() {
		return StoreTraits.exact().withBlocking(true);
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.first.connected();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		OwnerToken token = request.token();
		String row = row(request.key());
		if (!row.equals(this.settings.keyPrefix() + request.key())) {
			this.hashedKeys.put(token, request.key());
		}
		Optional<JdbcInbox> inbox = Optional.ofNullable(this.inboxes.get(token.instance()));
		// messages that concern this request are of no use
		inbox.ifPresent((open) -> open.remove(token));
		return Stages.<AcquireResult>call(() -> acquire(request, row, timeout)).whenComplete((result, failure) -> {
			if (result instanceof AcquireResult.Acquired) {
				inbox.ifPresent((open) -> open.acquired(request.key(), token));
			}
			else if (request.queue()) {
				// a request without a result may have queued it, too
				inbox.ifPresent((open) -> open.add(request.key(), token));
			}
		});
	}

	private AcquireResult acquire(AcquireRequest request, String row, Duration timeout) {
		OwnerToken token = request.token();
		Place place = request.queue() ? this.places.getOrDefault(token, new Place()) : null;
		AtomicBoolean sent = new AtomicBoolean();
		boolean certain = false;
		this.late.begin(request, timeout);
		try {
			AcquireResult result = this.requests.execute((call) -> {
				sent.set(true);
				return table(call).acquire(call, row, token.toString(), micros(request.ttl()), place);
			}, timeout);
			certain = true;
			return result;
		}
		catch (LockUnavailableException ex) {
			certain = ex.isPermanent() || !sent.get();
			throw ex;
		}
		finally {
			if (place != null && place.mayHaveRow()) {
				this.places.put(token, place);
			}
			this.late.ended(token, certain);
		}
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		return Stages.call(() -> {
			JdbcInbox inbox = this.inboxes.get(request.token().instance());
			if (inbox != null) {
				inbox.remove(request.token());
			}
			this.late.released(request.token());
			return releaseNow(request, timeout);
		});
	}

	private ReleaseResult releaseNow(ReleaseRequest request, Duration timeout) {
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
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		return Stages.call(() -> requests.isEmpty() ? List.of() : renewAll(requests, timeout));
	}

	private List<RenewResult> renewAll(List<RenewRequest> requests, Duration timeout) {
		// in the same order everywhere, since a batch may be one transaction that locks
		// its rows
		List<RenewRequest> sorted = requests.stream()
			.sorted(Comparator.comparing((request) -> row(request.key())))
			.toList();
		List<Map<String, Object>> values = sorted.stream()
			.map((request) -> Map.<String, Object>of("key", row(request.key()), "token", request.token().toString(),
					"ttl", micros(request.ttl())))
			.toList();
		int[] counts = this.renewals.execute((call) -> call.updateAll(table(call).renewal(), values), timeout);
		Map<RenewRequest, RenewResult> results = new IdentityHashMap<>();
		for (int i = 0; i < counts.length; i++) {
			results.put(sorted.get(i), (counts[i] > 0) ? RenewResult.RENEWED : RenewResult.NOT_OWNER);
		}
		return requests.stream().map(results::get).toList();
	}

	private String row(String key) {
		return RowKey.of(this.settings.keyPrefix() + key);
	}

	// at least one microsecond, since zero would mean none
	private static long micros(Duration duration) {
		return duration.isZero() ? 0 : Math.max(1, TimeUnit.NANOSECONDS.toMicros(duration.toNanos()));
	}

	private LockTable table(JdbcCall call) throws SQLException {
		LockTable present = this.table;
		if (present == null) {
			present = new LockTable(this.settings.table(), dialect(call));
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

	/** Listens with PostgreSQL and its driver, and polls otherwise. */
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
	 * Checks that both tables can be read.
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
	 * Stops the threads of this store and rejects further requests. Does not close the
	 * {@link DataSource}.
	 */
	@Override
	public void close() {
		this.first.close();
		if (this.purge != null) {
			this.purge.close();
		}
		this.late.close();
		this.inboxes.values().forEach(JdbcInbox::close);
		this.requests.close();
		this.renewals.close();
	}

	/** Cannot describe instances. */
	private final class Inspector implements LockStoreInspector {

		@Override
		public Optional<StoredLock> find(String key, Duration timeout) {
			return JdbcLockStore.this.requests
				.execute((call) -> LockQueue.describe(key, table(call).rows(call, row(key))), timeout);
		}

		/* Sends the same statements as the owner would */
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
		 * Sets the name of the database in messages.
		 * @param name the name, for example its address without a password
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
		 * default. One of them is for renewals only; further callers wait. The
		 * {@code DataSource} should provide as many and, for PostgreSQL, one more.
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
		 * Sets how long after its last acquisition the row of a free lock is deleted, 30
		 * days by default. Needs the right to DELETE.
		 * @param purgeAfter the age, at least an hour, and longer than the clock of the
		 * server is ever set back; null to keep all rows
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
