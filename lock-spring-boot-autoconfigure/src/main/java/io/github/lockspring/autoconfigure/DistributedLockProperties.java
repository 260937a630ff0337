package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import io.github.lockspring.internal.transaction.Verification;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.InitializingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.context.EnvironmentAware;
import org.springframework.core.env.Environment;
import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Properties of the locks. Durations need a unit. An invalid value stops the application
 * at startup.
 *
 * @param enabled Whether annotated methods run under their locks. If false, they run
 * without locks, and a LockTemplate excludes only callers in the same process.
 * @param store Store of the locks, unless the application defines a LockStore bean. By
 * default, the only store on the class path.
 * @param keyPrefix Prefix of each key in the store, not empty and without braces.
 * Applications that share locks need the same prefix.
 * @param ttl Length of the lease, at least 300 milliseconds, unless the annotation or the
 * request sets one. After a crash of the holder, others can acquire the lock after this
 * time.
 * @param waitTime Maximum wait for a busy lock, unless the annotation or the request sets
 * one. Zero makes a single attempt. Does not apply to annotations with onBusy = SKIP,
 * which make a single attempt unless they set a wait.
 * @param maxHold Longest time from the acquisition to the end of a renewed lease, unless
 * the annotation or the request sets one. By default, a lease is renewed until the work
 * ends.
 * @param commandTimeout Maximum wait for a reply of the store, 10 milliseconds to 1
 * minute, and never more than a third of the ttl. By default, 1 second for Redis, or
 * spring.data.redis.timeout if that is set and shorter, and 2 seconds for other stores.
 * @param asyncRelease Whether a caller continues as soon as the release of its lock is
 * sent, without waiting for the result. A loss that only the release detects is then
 * reported by an event, not by an exception.
 * @param order Order of the lock's advisor among the advisors of a method; a smaller
 * order is further outside. By default, the lock is outside transactions and caches,
 * which use the largest number by default.
 * @param redis Locks on the application's Redis.
 * @param redlock Servers of the store redlock, whose majority grants a lock.
 * @param jdbc The store in a database.
 * @param fencing Fencing in a database, with the auto-configured guard.
 * @param zookeeper The store in ZooKeeper.
 * @param etcd The store in etcd.
 * @param transaction Locks in transactions.
 */
@ConfigurationProperties("distributed-lock")
record DistributedLockProperties(@DefaultValue("true") boolean enabled, @Nullable Store store,
		@DefaultValue("lock:") String keyPrefix, @DefaultValue("30s") Duration ttl,
		@DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold, @Nullable Duration commandTimeout,
		@DefaultValue("false") boolean asyncRelease,
		@DefaultValue("" + LockOperationSourceAdvisor.DEFAULT_ORDER) int order, @DefaultValue Redis redis,
		@DefaultValue Redlock redlock, @DefaultValue Jdbc jdbc, @DefaultValue Fencing fencing,
		@DefaultValue Zookeeper zookeeper, @DefaultValue Etcd etcd,
		@DefaultValue Transaction transaction) implements EnvironmentAware, InitializingBean {

	static final Duration MIN_COMMAND_TIMEOUT = Duration.ofMillis(10);

	/**
	 * Refuses durations without a unit, which are durations like others when they are
	 * bound: Spring Boot reads {@code wait-time: 5} as five milliseconds and most people
	 * as five seconds; zero needs no unit.
	 */
	@Override
	public void setEnvironment(Environment environment) {
		Binder binder = Binder.get(environment);
		for (String property : List.of("ttl", "wait-time", "max-hold", "command-timeout", "redlock.max-ttl",
				"jdbc.purge-after", "zookeeper.session-timeout")) {
			String text = binder.bind("distributed-lock." + property, String.class).orElse("").trim();
			if (text.matches("[+-]?0*[1-9]\\d*")) {
				throw PropertyChecks.invalid(property, text, "It has no unit",
						"Write it with its unit, for example %ss or %sms".formatted(text, text));
			}
		}
	}

	/**
	 * Checks the values for every store.
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
		checkMaxTtl();
		if (this.zookeeper.auth != null && this.zookeeper.auth.indexOf(':') <= 0) {
			throw PropertyChecks.secret("zookeeper.auth", "it has no scheme",
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

	/** Without the values, some of which are passwords. */
	@Override
	public String toString() {
		return DistributedLockProperties.class.getSimpleName();
	}

	/**
	 * Locks on the application's Redis.
	 *
	 * @param replicaAcks Number of replicas that must acknowledge each acquisition and
	 * renewal, 0 to 10. If fewer do, the lock is released and the call fails as
	 * unavailable. For a single server or Sentinel.
	 */
	record Redis(@DefaultValue("0") int replicaAcks) {
	}

	/**
	 * Servers of the store redlock, whose majority grants a lock.
	 *
	 * @param nodes URLs of the servers, such as redis://user:password@host:6379 or, with
	 * TLS, rediss://host:6379. Three, five or another odd number of independent servers,
	 * none of them a replica.
	 * @param ssl TLS of the connections.
	 * @param maxTtl Longest lease in use, including minHold. A restarted server does not
	 * vote for this time, and longer leases are rejected. By default, the property ttl.
	 */
	record Redlock(@DefaultValue List<String> nodes, @DefaultValue Ssl ssl, @Nullable Duration maxTtl) {

		/** Without the values, some of which are passwords. */
		@Override
		public String toString() {
			return "Redlock";
		}

	}

	/**
	 * The store in a database.
	 *
	 * @param table Lock table, unquoted, optionally preceded by a schema and a dot.
	 * @param initializeSchema When to create the table at startup if it does not exist.
	 * @param connections Maximum number of connections of the store, 2 to 100, one of
	 * them for renewals only. On PostgreSQL, one more is open while callers wait. The
	 * connections are in a separate pool with the settings of the application's pool,
	 * unless there is a DataSource bean with @LockDataSource.
	 * @param purgeAfter Time since the last acquisition after which the row of a free
	 * lock is deleted in the background, 1 hour to 10 years. Must be longer than the
	 * clock of the server is ever set back.
	 */
	record Jdbc(@DefaultValue("lock_lease") String table, @DefaultValue("embedded") InitializeSchema initializeSchema,
			@DefaultValue("5") int connections, @DefaultValue("30d") Duration purgeAfter) {
	}

	/**
	 * Fencing in a database, with the auto-configured guard.
	 *
	 * @param table Table of fencing tokens, unquoted, optionally preceded by a schema and
	 * a dot.
	 * @param initializeSchema When to create the table at startup if it does not exist.
	 */
	record Fencing(@DefaultValue("lock_fence") String table,
			@DefaultValue("embedded") InitializeSchema initializeSchema) {
	}

	/**
	 * The store in ZooKeeper.
	 *
	 * @param connectString Servers, as host:port, separated by commas. Not used if the
	 * application has a CuratorFramework bean.
	 * @param sessionTimeout Session timeout to request, 1 second to 10 minutes. The
	 * server may choose another one. A ttl must not be shorter. A lease lasts for a third
	 * of the timeout; longer ones are renewed.
	 * @param auth Credentials in the form scheme:value, such as digest:user:password,
	 * which are then needed to access the locks. By default, there are none and all
	 * clients can access the locks.
	 */
	record Zookeeper(@DefaultValue("localhost:2181") String connectString, @DefaultValue("15s") Duration sessionTimeout,
			@Nullable String auth) {

		/** Without the values, some of which are passwords. */
		@Override
		public String toString() {
			return "Zookeeper";
		}

	}

	/**
	 * The store in etcd.
	 *
	 * @param endpoints URLs of the servers, such as http://host:2379 or, with TLS,
	 * https://host:2379. Not used if the application has a jetcd Client bean.
	 * @param username Login username. By default, the client does not authenticate.
	 * @param password Login password. By default, the client does not authenticate.
	 * @param ssl TLS of the connections.
	 */
	record Etcd(@DefaultValue("http://localhost:2379") List<String> endpoints, @Nullable String username,
			@Nullable String password, @DefaultValue Ssl ssl) {

		/** Without the values, some of which are passwords. */
		@Override
		public String toString() {
			return "Etcd";
		}

	}

	/**
	 * Locks in transactions.
	 *
	 * @param verifyBeforeCommit Where to verify before a commit that the locks are still
	 * held. A lost lock turns the commit into a rollback.
	 */
	record Transaction(@DefaultValue("local") Verification verifyBeforeCommit) {
	}

	/**
	 * TLS of a store's connections.
	 *
	 * @param bundle Name of the SSL bundle to use. By default, the trust store of the
	 * JVM.
	 */
	record Ssl(@Nullable String bundle) {
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
