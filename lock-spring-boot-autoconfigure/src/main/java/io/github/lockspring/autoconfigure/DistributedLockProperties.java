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
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Properties of the locks. Durations need a unit. An invalid value stops the application
 * at startup.
 */
@ConfigurationProperties("distributed-lock")
class DistributedLockProperties implements InitializingBean {

	static final Duration MIN_COMMAND_TIMEOUT = Duration.ofMillis(10);

	/**
	 * Whether annotated methods run under their locks. If false, they run without locks,
	 * and a LockTemplate excludes only callers in the same process.
	 */
	private boolean enabled = true;

	/**
	 * Store of the locks, unless the application defines a LockStore bean. By default,
	 * the only store on the class path.
	 */
	private @Nullable Store store;

	/**
	 * Prefix of each key in the store, not empty and without braces. Applications that
	 * share locks need the same prefix.
	 */
	private String keyPrefix = "lock:";

	/**
	 * Length of the lease, at least 300 milliseconds, unless the annotation or the
	 * request sets one. After a crash of the holder, others can acquire the lock after
	 * this time.
	 */
	private Duration ttl = Duration.ofSeconds(30);

	/**
	 * Maximum wait for a busy lock, unless the annotation or the request sets one. Zero
	 * makes a single attempt. Does not apply to annotations with onBusy = SKIP, which
	 * make a single attempt unless they set a wait.
	 */
	private Duration waitTime = Duration.ofSeconds(5);

	/**
	 * Longest time from the acquisition to the end of a renewed lease, unless the
	 * annotation or the request sets one. By default, a lease is renewed until the work
	 * ends.
	 */
	private @Nullable Duration maxHold;

	/**
	 * Maximum wait for a reply of the store, 10 milliseconds to 1 minute, and never more
	 * than a third of the ttl. By default, 1 second for Redis, or
	 * spring.data.redis.timeout if that is set and shorter, and 2 seconds for other
	 * stores.
	 */
	private @Nullable Duration commandTimeout;

	/**
	 * Whether a caller continues as soon as the release of its lock is sent, without
	 * waiting for the result. A loss that only the release detects is then reported by an
	 * event, not by an exception.
	 */
	private boolean asyncRelease = false;

	/**
	 * Order of the lock's advisor among the advisors of a method; a smaller order is
	 * further outside. By default, the lock is outside transactions and caches, which use
	 * the largest number by default.
	 */
	private int order = LockOperationSourceAdvisor.DEFAULT_ORDER;

	private final Redis redis = new Redis();

	private final Redlock redlock = new Redlock();

	private final Jdbc jdbc = new Jdbc();

	private final Fencing fencing = new Fencing();

	private final Zookeeper zookeeper = new Zookeeper();

	private final Etcd etcd = new Etcd();

	private final Transaction transaction = new Transaction();

	private final Environment environment;

	// without the annotation, the properties themselves would be parameters
	@Autowired
	DistributedLockProperties(Environment environment) {
		this.environment = environment;
	}

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
	 * Checks the values for every store.
	 * @throws InvalidConfigurationPropertyValueException if a value is invalid
	 * @throws LockConfigurationException if a value is invalid that may be a secret
	 */
	@Override
	public void afterPropertiesSet() {
		checkUnits();
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
		checkMaxTtl();
		if (this.zookeeper.auth != null && this.zookeeper.auth.indexOf(':') <= 0) {
			throw PropertyChecks.secret("zookeeper.auth", "it has no scheme",
					"Write the scheme, a colon and its value, such as digest:user:password.");
		}
		EtcdPropertiesValidator.validate(this.etcd);
	}

	/**
	 * Spring Boot reads {@code wait-time: 5} as five milliseconds and most people as five
	 * seconds; zero needs no unit.
	 */
	private void checkUnits() {
		Binder binder = Binder.get(this.environment);
		for (String property : List.of("ttl", "wait-time", "max-hold", "command-timeout", "redlock.max-ttl",
				"jdbc.purge-after", "zookeeper.session-timeout")) {
			String text = binder.bind("distributed-lock." + property, String.class).orElse("").trim();
			if (text.matches("[+-]?0*[1-9]\\d*")) {
				throw PropertyChecks.invalid(property, text, "It has no unit",
						"Write it with its unit, for example %ss or %sms".formatted(text, text));
			}
		}
	}

	private void checkKeyPrefix() {
		if (this.keyPrefix.isBlank()) {
			throw PropertyChecks.invalid("key-prefix", this.keyPrefix,
					"It is empty, so locks could be mistaken for other keys",
					"Choose a prefix such as 'lock:', or leave the property out");
		}
		if (this.keyPrefix.indexOf('{') >= 0 || this.keyPrefix.indexOf('}') >= 0) {
			throw PropertyChecks.invalid("key-prefix", this.keyPrefix,
					"Braces select the slot of a key in a Redis Cluster, which must depend on the key alone",
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

	private void checkMaxTtl() {
		if (this.redlock.maxTtl != null) {
			PropertyChecks.check("redlock.max-ttl", this.redlock.maxTtl, LockOptions.MIN_TTL, LockOptions.MAX_DURATION);
			if (this.store == Store.REDLOCK && this.redlock.maxTtl.compareTo(this.ttl) < 0) {
				throw PropertyChecks.invalid("redlock.max-ttl", PropertyChecks.text(this.redlock.maxTtl),
						"It is shorter than distributed-lock.ttl = " + PropertyChecks.text(this.ttl),
						"Choose the longest ttl of all annotations, requests and the property ttl");
			}
		}
	}

	/**
	 * Checks that the store can guarantee the ttl.
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
		 * Number of replicas that must acknowledge each acquisition and renewal, 0 to 10.
		 * If fewer do, the lock is released and the call fails as unavailable. For a
		 * single server or Sentinel.
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
	 * Servers of the store redlock, whose majority grants a lock.
	 */
	static class Redlock {

		/**
		 * URLs of the servers, such as redis://user:password@host:6379 or, with TLS,
		 * rediss://host:6379. Three, five or another odd number of independent servers,
		 * none of them a replica.
		 */
		private List<String> nodes = new ArrayList<>();

		private final Ssl ssl = new Ssl();

		/**
		 * Longest lease in use, including minHold. A restarted server does not vote for
		 * this time, and longer leases are rejected. By default, the property ttl.
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
		 * Lock table, unquoted, optionally preceded by a schema and a dot.
		 */
		private String table = "lock_lease";

		/**
		 * When to create the table at startup if it does not exist.
		 */
		private InitializeSchema initializeSchema = InitializeSchema.EMBEDDED;

		/**
		 * Maximum number of connections of the store, 2 to 100, one of them for renewals
		 * only. On PostgreSQL, one more is open while callers wait. The connections are
		 * in a separate pool with the settings of the application's pool, unless there is
		 * a DataSource bean with @LockDataSource.
		 */
		private int connections = 5;

		/**
		 * Time since the last acquisition after which the row of a free lock is deleted
		 * in the background, 1 hour to 10 years. Must be longer than the clock of the
		 * server is ever set back.
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
		 * Table of fencing tokens, unquoted, optionally preceded by a schema and a dot.
		 */
		private String table = "lock_fence";

		/**
		 * When to create the table at startup if it does not exist.
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
		 * Servers, as host:port, separated by commas. Not used if the application has a
		 * CuratorFramework bean.
		 */
		private String connectString = "localhost:2181";

		/**
		 * Session timeout to request, 1 second to 10 minutes. The server may choose
		 * another one. A ttl must not be shorter. A lease lasts for a third of the
		 * timeout; longer ones are renewed.
		 */
		private Duration sessionTimeout = Duration.ofSeconds(15);

		/**
		 * Credentials in the form scheme:value, such as digest:user:password, which are
		 * then needed to access the locks. By default, there are none and all clients can
		 * access the locks.
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
		 * Not used if the application has a jetcd Client bean.
		 */
		private List<String> endpoints = new ArrayList<>(List.of("http://localhost:2379"));

		/**
		 * Login username. By default, the client does not authenticate.
		 */
		private @Nullable String username;

		/**
		 * Login password. By default, the client does not authenticate.
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
		 * Where to verify before a commit that the locks are still held. A lost lock
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
		 * Name of the SSL bundle to use. By default, the trust store of the JVM.
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
	 * The lock stores.
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
		 * A table in the application's database, or in the database of a DataSource with
		 * {@code @LockDataSource}.
		 */
		JDBC,

		/**
		 * The ZooKeeper of the application's CuratorFramework or of
		 * distributed-lock.zookeeper.connect-string.
		 */
		ZOOKEEPER,

		/**
		 * The etcd of the application's jetcd Client or of
		 * distributed-lock.etcd.endpoints.
		 */
		ETCD,

		/**
		 * The memory of this process, for tests and for applications with one instance.
		 */
		MEMORY

	}

	/**
	 * When to create a table. Spring Boot's own enum is not on every class path.
	 */
	enum InitializeSchema {

		/**
		 * At each start. Needs permission to create tables.
		 */
		ALWAYS,

		/**
		 * At each start with an embedded database, such as H2 in memory, but not H2 in a
		 * file.
		 */
		EMBEDDED,

		/**
		 * Never; migrations create the table.
		 */
		NEVER

	}

}
