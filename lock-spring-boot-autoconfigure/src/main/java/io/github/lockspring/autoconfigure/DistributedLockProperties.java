package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.internal.transaction.Verification;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Properties of the locks. Durations need a unit; an invalid value stops the start of the
 * application.
 */
@ConfigurationProperties("distributed-lock")
class DistributedLockProperties implements InitializingBean {

	static final Duration MIN_COMMAND_TIMEOUT = Duration.ofMillis(10);

	/**
	 * Whether annotated methods run under their locks. When false, they run without, and
	 * a LockTemplate excludes only callers in the same process.
	 */
	private boolean enabled = true;

	/**
	 * Store of the locks, unless the application defines a LockStore bean. Without it,
	 * the only store on the class path.
	 */
	private @Nullable Store store;

	/**
	 * Prefix of each key in the store. Not empty, and without braces. Applications that
	 * share locks need the same prefix.
	 */
	private String keyPrefix = "lock:";

	/**
	 * Length of a lease where the annotation or the request sets none: how soon others
	 * may go on after a crash. At least 300 milliseconds.
	 */
	private Duration ttl = Duration.ofSeconds(30);

	/**
	 * Maximum wait for a busy lock where the annotation or the request sets none. Zero
	 * makes a single attempt.
	 */
	private Duration waitTime = Duration.ofSeconds(5);

	/**
	 * Time after the acquisition at which renewal ends where the annotation or the
	 * request sets none; the lease then runs out. Without it, a lease is renewed until
	 * the work ends.
	 */
	private @Nullable Duration maxHold;

	/**
	 * Maximum wait for a response of the store, 10 milliseconds to 1 minute, and never
	 * more than a third of the ttl. Without it, 1 second for Redis, or
	 * spring.data.redis.timeout if that is set and shorter, and 2 seconds for other
	 * stores.
	 */
	private @Nullable Duration commandTimeout;

	/**
	 * Whether a caller goes on when the release of its lock is on its way, instead of
	 * waiting for the result. A loss that only the release would have found is then an
	 * event, and no exception.
	 */
	private boolean asyncRelease = false;

	/**
	 * Order of the lock's advisor among the advisors of a method; a smaller order is
	 * further outside. The default is outside of transactions and caches, whose own
	 * default is the largest number.
	 */
	private int order = LockOperationSourceAdvisor.DEFAULT_ORDER;

	private final Redis redis = new Redis();

	private final Redlock redlock = new Redlock();

	private final Jdbc jdbc = new Jdbc();

	private final Fencing fencing = new Fencing();

	private final Zookeeper zookeeper = new Zookeeper();

	private final Etcd etcd = new Etcd();

	private final Transaction transaction = new Transaction();

	public boolean isEnabled() {
		return this.enabled;
	}

	public void setEnabled(boolean enabled) {
		this.enabled = enabled;
	}

	public @Nullable Store getStore() {
		return this.store;
	}

	public void setStore(@Nullable Store store) {
		this.store = store;
	}

	public String getKeyPrefix() {
		return this.keyPrefix;
	}

	public void setKeyPrefix(String keyPrefix) {
		this.keyPrefix = keyPrefix;
	}

	public Duration getTtl() {
		return this.ttl;
	}

	public void setTtl(Duration ttl) {
		this.ttl = ttl;
	}

	public Duration getWaitTime() {
		return this.waitTime;
	}

	public void setWaitTime(Duration waitTime) {
		this.waitTime = waitTime;
	}

	public @Nullable Duration getMaxHold() {
		return this.maxHold;
	}

	public void setMaxHold(@Nullable Duration maxHold) {
		this.maxHold = maxHold;
	}

	public @Nullable Duration getCommandTimeout() {
		return this.commandTimeout;
	}

	public void setCommandTimeout(@Nullable Duration commandTimeout) {
		this.commandTimeout = commandTimeout;
	}

	public boolean isAsyncRelease() {
		return this.asyncRelease;
	}

	public void setAsyncRelease(boolean asyncRelease) {
		this.asyncRelease = asyncRelease;
	}

	public int getOrder() {
		return this.order;
	}

	public void setOrder(int order) {
		this.order = order;
	}

	public Redis getRedis() {
		return this.redis;
	}

	public Redlock getRedlock() {
		return this.redlock;
	}

	public Jdbc getJdbc() {
		return this.jdbc;
	}

	public Fencing getFencing() {
		return this.fencing;
	}

	public Zookeeper getZookeeper() {
		return this.zookeeper;
	}

	public Etcd getEtcd() {
		return this.etcd;
	}

	public Transaction getTransaction() {
		return this.transaction;
	}

	/**
	 * Checks the values, whatever the store.
	 * @throws InvalidConfigurationPropertyValueException if a value is invalid
	 * @throws LockConfigurationException if a value is invalid that may be a secret
	 */
	@Override
	public void afterPropertiesSet() {
		checkKeyPrefix();
		PropertyChecks.check("ttl", this.ttl, LockOptions.MIN_RENEWED_TTL, LockOptions.MAX_DURATION);
		PropertyChecks.check("wait-time", this.waitTime, Duration.ZERO, LockOptions.MAX_DURATION);
		checkMaxHold();
		if (this.commandTimeout != null) {
			PropertyChecks.check("command-timeout", this.commandTimeout, MIN_COMMAND_TIMEOUT, Duration.ofMinutes(1));
		}
		PropertyChecks.check("redis.replica-acks", this.redis.replicaAcks, 0, 10);
		PropertyChecks.check("jdbc.connections", this.jdbc.connections, 2, 100);
		PropertyChecks.check("jdbc.purge-after", this.jdbc.purgeAfter, Duration.ofHours(1), Duration.ofDays(3650));
		PropertyChecks.check("zookeeper.session-timeout", this.zookeeper.sessionTimeout, Duration.ofSeconds(1),
				Duration.ofMinutes(10));
		if (this.redlock.maxTtl != null) {
			PropertyChecks.check("redlock.max-ttl", this.redlock.maxTtl, LockOptions.MIN_TTL, LockOptions.MAX_DURATION);
		}
		if (this.store == Store.REDLOCK) {
			checkRedlock();
		}
		if (this.zookeeper.auth != null && this.zookeeper.auth.indexOf(':') <= 0) {
			throw LockConfigurationException.ofSecret("zookeeper.auth", "it has no scheme",
					"Write the scheme, a colon and its value, such as digest:user:password.");
		}
		EtcdPropertiesValidator.validate(this.etcd);
	}

	private void checkKeyPrefix() {
		if (this.keyPrefix.isBlank()) {
			throw PropertyChecks.invalid("key-prefix", this.keyPrefix,
					"It is empty, so locks could be mistaken for other keys",
					"Choose a prefix such as 'lock:', or leave the property out");
		}
		if (this.keyPrefix.indexOf('{') >= 0 || this.keyPrefix.indexOf('}') >= 0) {
			throw PropertyChecks.invalid("key-prefix", this.keyPrefix,
					"Braces select the slot of a key in a Redis Cluster, which only the key itself may do",
					"Choose a prefix without braces, such as 'lock:'");
		}
	}

	private void checkMaxHold() {
		if (this.maxHold != null) {
			PropertyChecks.check("max-hold", this.maxHold, LockOptions.MIN_RENEWED_TTL, LockOptions.MAX_DURATION);
			if (this.maxHold.compareTo(this.ttl) < 0) {
				throw PropertyChecks.invalid("max-hold", PropertyChecks.text(this.maxHold),
						"It is shorter than a single lease, distributed-lock.ttl = " + PropertyChecks.text(this.ttl),
						"Choose at least the ttl, or make the ttl shorter");
			}
		}
	}

	// these count only for the store redlock
	private void checkRedlock() {
		RedlockAddress.parse(this.redlock);
		if (this.redlock.maxTtl != null && this.redlock.maxTtl.compareTo(this.ttl) < 0) {
			throw PropertyChecks.invalid("redlock.max-ttl", PropertyChecks.text(this.redlock.maxTtl),
					"Leases are longer than that: distributed-lock.ttl = " + PropertyChecks.text(this.ttl),
					"Choose the longest ttl of all annotations, requests and the property ttl");
		}
	}

	/**
	 * Checks that the store can give the ttl.
	 * @param shortest the shortest ttl of the store
	 * @throws InvalidConfigurationPropertyValueException if the ttl is shorter
	 */
	void checkTtl(Duration shortest) {
		if (this.ttl.compareTo(shortest) < 0) {
			throw PropertyChecks.invalid("ttl", PropertyChecks.text(this.ttl),
					"The store of this application cannot give less than " + PropertyChecks.text(shortest),
					"Choose at least that, or another store");
		}
	}

	/**
	 * Locks on the application's Redis.
	 */
	static class Redis {

		/**
		 * Number of replicas that must acknowledge a lock, and each of its renewals,
		 * before it counts, 0 to 10. With fewer, the lock is released and the call fails
		 * as unavailable. For a single server or Sentinel.
		 */
		private int replicaAcks = 0;

		public int getReplicaAcks() {
			return this.replicaAcks;
		}

		public void setReplicaAcks(int replicaAcks) {
			this.replicaAcks = replicaAcks;
		}

	}

	/**
	 * Servers of the store redlock, a majority of which grants a lock.
	 */
	static class Redlock {

		/**
		 * URLs of the servers: three, five or another odd number, none of them a replica
		 * of another. Each is redis://user:password@host:6379 or, with TLS,
		 * rediss://host:6379.
		 */
		private List<String> nodes = new ArrayList<>();

		private final Ssl ssl = new Ssl();

		/**
		 * Longest lease in use, minHold included. A restarted server does not vote for as
		 * long, and longer leases are refused. Without it, the property ttl applies.
		 */
		private @Nullable Duration maxTtl;

		public List<String> getNodes() {
			return this.nodes;
		}

		public void setNodes(List<String> nodes) {
			this.nodes = nodes;
		}

		public Ssl getSsl() {
			return this.ssl;
		}

		public @Nullable Duration getMaxTtl() {
			return this.maxTtl;
		}

		public void setMaxTtl(@Nullable Duration maxTtl) {
			this.maxTtl = maxTtl;
		}

	}

	/**
	 * The store in a database.
	 */
	static class Jdbc {

		/**
		 * Table of locks, unquoted, with an optional schema and a dot before its name.
		 */
		private String table = "lock_lease";

		/**
		 * When to create that table at startup if it does not exist.
		 */
		private InitializeSchema initializeSchema = InitializeSchema.EMBEDDED;

		/**
		 * Maximum number of connections of the store, 2 to 100, of which one is for
		 * renewals only. On PostgreSQL one more is open while callers wait. They are in a
		 * pool of their own, with the settings of the application's pool, unless there is
		 * a DataSource bean with @LockDataSource.
		 */
		private int connections = 5;

		/**
		 * Deletes the rows of free locks that were acquired last longer ago than this, 1
		 * hour to 10 years, in the background. Longer than the clock of the server may
		 * ever be set back.
		 */
		private Duration purgeAfter = Duration.ofDays(30);

		public String getTable() {
			return this.table;
		}

		public void setTable(String table) {
			this.table = table;
		}

		public InitializeSchema getInitializeSchema() {
			return this.initializeSchema;
		}

		public void setInitializeSchema(InitializeSchema initializeSchema) {
			this.initializeSchema = initializeSchema;
		}

		public int getConnections() {
			return this.connections;
		}

		public void setConnections(int connections) {
			this.connections = connections;
		}

		public Duration getPurgeAfter() {
			return this.purgeAfter;
		}

		public void setPurgeAfter(Duration purgeAfter) {
			this.purgeAfter = purgeAfter;
		}

	}

	/**
	 * Fencing in a database, with the auto-configured guard.
	 */
	static class Fencing {

		/**
		 * Table of fencing tokens, unquoted, with an optional schema and a dot before its
		 * name.
		 */
		private String table = "lock_fence";

		/**
		 * When to create that table at startup if it does not exist.
		 */
		private InitializeSchema initializeSchema = InitializeSchema.EMBEDDED;

		public String getTable() {
			return this.table;
		}

		public void setTable(String table) {
			this.table = table;
		}

		public InitializeSchema getInitializeSchema() {
			return this.initializeSchema;
		}

		public void setInitializeSchema(InitializeSchema initializeSchema) {
			this.initializeSchema = initializeSchema;
		}

	}

	/**
	 * The store in ZooKeeper.
	 */
	static class Zookeeper {

		/**
		 * Servers, as host:port, separated by commas. The connection of a
		 * CuratorFramework bean of the application is used instead if there is one.
		 */
		private String connectString = "localhost:2181";

		/**
		 * Session timeout to request, 1 second to 10 minutes. No ttl may be shorter. A
		 * lease lasts for half of it, and longer ones are renewed. The server may decide
		 * on another one.
		 */
		private Duration sessionTimeout = Duration.ofSeconds(15);

		/**
		 * Credentials in the form scheme:value, such as digest:user:password, to which
		 * the nodes of locks then belong. Without it, the connection has none, and all
		 * clients may use the nodes.
		 */
		private @Nullable String auth;

		public String getConnectString() {
			return this.connectString;
		}

		public void setConnectString(String connectString) {
			this.connectString = connectString;
		}

		public Duration getSessionTimeout() {
			return this.sessionTimeout;
		}

		public void setSessionTimeout(Duration sessionTimeout) {
			this.sessionTimeout = sessionTimeout;
		}

		public @Nullable String getAuth() {
			return this.auth;
		}

		public void setAuth(@Nullable String auth) {
			this.auth = auth;
		}

	}

	/**
	 * The store in etcd.
	 */
	static class Etcd {

		/**
		 * URLs of the servers, such as http://host:2379 or, with TLS, https://host:2379.
		 * The client of a Client bean of the application is used instead if there is one.
		 */
		private List<String> endpoints = new ArrayList<>(List.of("http://localhost:2379"));

		/**
		 * Login username. Without it, the client does not authenticate.
		 */
		private @Nullable String username;

		/**
		 * Login password. Without it, the client does not authenticate.
		 */
		private @Nullable String password;

		private final Ssl ssl = new Ssl();

		public List<String> getEndpoints() {
			return this.endpoints;
		}

		public void setEndpoints(List<String> endpoints) {
			this.endpoints = endpoints;
		}

		public @Nullable String getUsername() {
			return this.username;
		}

		public void setUsername(@Nullable String username) {
			this.username = username;
		}

		public @Nullable String getPassword() {
			return this.password;
		}

		public void setPassword(@Nullable String password) {
			this.password = password;
		}

		public Ssl getSsl() {
			return this.ssl;
		}

	}

	/**
	 * Locks in transactions.
	 */
	static class Transaction {

		/**
		 * Where to verify before a commit that the locks are still held; a lost lock
		 * turns the commit into a rollback.
		 */
		private Verification verifyBeforeCommit = Verification.LOCAL;

		public Verification getVerifyBeforeCommit() {
			return this.verifyBeforeCommit;
		}

		public void setVerifyBeforeCommit(Verification verifyBeforeCommit) {
			this.verifyBeforeCommit = verifyBeforeCommit;
		}

	}

	/**
	 * TLS of a store's connections.
	 */
	static class Ssl {

		/**
		 * Name of the SSL bundle to use. Without it, the trust store of the JVM applies.
		 */
		private @Nullable String bundle;

		public @Nullable String getBundle() {
			return this.bundle;
		}

		public void setBundle(@Nullable String bundle) {
			this.bundle = bundle;
		}

	}

	/**
	 * Stores of locks.
	 */
	enum Store {

		/**
		 * The Redis server, Sentinel group or Cluster of the application's
		 * RedisConnectionFactory.
		 */
		REDIS,

		/**
		 * A majority of the independent Redis servers in distributed-lock.redlock.nodes.
		 */
		REDLOCK,

		/**
		 * A table in the application's database, or in that of a DataSource with
		 * {@code @LockDataSource}.
		 */
		JDBC,

		/**
		 * The ZooKeeper of the application's CuratorFramework, or that of
		 * distributed-lock.zookeeper.connect-string.
		 */
		ZOOKEEPER,

		/**
		 * The etcd of the application's jetcd Client, or that of
		 * distributed-lock.etcd.endpoints.
		 */
		ETCD,

		/**
		 * The memory of this process, for tests and for applications with one instance.
		 */
		MEMORY

	}

	/**
	 * When to create a table. Spring Boot's own enum is not on each class path.
	 */
	enum InitializeSchema {

		/**
		 * At each start. Needs permission to create tables.
		 */
		ALWAYS,

		/**
		 * At each start with an embedded database, such as H2 in memory. H2 in a file is
		 * none.
		 */
		EMBEDDED,

		/**
		 * Never; migrations create it.
		 */
		NEVER

	}

}
