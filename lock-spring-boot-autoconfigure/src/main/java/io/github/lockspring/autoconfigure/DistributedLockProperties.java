package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.transaction.Verification;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.Ordered;

/**
 * Properties of the locks. Durations need a unit; an invalid value stops the start of the
 * application.
 *
 * @param enabled Whether annotated methods run under their locks. When false, they run
 * without, and a LockTemplate excludes only callers in the same process.
 * @param store Store of the locks, unless the application defines a LockStore bean.
 * Without it, the only store on the class path.
 * @param keyPrefix Prefix of each key in the store. Not empty, and without braces.
 * Applications that share locks need the same prefix.
 * @param ttl Length of a lease where the annotation or the request sets none; such a
 * lease is renewed while the work runs. At least 300 milliseconds.
 * @param waitTime Maximum wait for a busy lock where the annotation or the request sets
 * none. Zero makes a single attempt.
 * @param maxHold Time after the acquisition at which renewal ends where the annotation or
 * the request sets none; the lease then runs out. Without it, a lease is renewed until
 * the work ends.
 * @param asyncRelease Whether a caller goes on when the release of its lock is on its
 * way, instead of waiting for the result. A loss that only the release would have found
 * is then an event, and no exception.
 * @param order Order of the lock's advisor among the advisors of a method; a smaller
 * order is further outside. The default is outside of transactions and caches, whose own
 * default is the largest number.
 * @param renewal Renewal of leases.
 * @param redis Communication with Redis.
 * @param redlock Servers of the store redlock.
 * @param jdbc The store in a database.
 * @param zookeeper The store in ZooKeeper.
 * @param etcd The store in etcd.
 * @param fairness Sharing of locks between instances.
 * @param shutdown Locks when the application stops.
 * @param transaction Locks in transactions.
 * @param fencing Fencing in a database.
 * @param observation Observations of waits and holds, for traces.
 * @since 0.1
 */
@ConfigurationProperties("distributed-lock")
public record DistributedLockProperties(@DefaultValue("true") boolean enabled, @Nullable Store store,
		@DefaultValue("lock:") String keyPrefix, @DefaultValue("30s") Duration ttl,
		@DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold, @DefaultValue("false") boolean asyncRelease,
		@DefaultValue(DEFAULT_ORDER) int order, @DefaultValue Renewal renewal, @DefaultValue Redis redis,
		@DefaultValue Redlock redlock, @DefaultValue Jdbc jdbc, @DefaultValue Zookeeper zookeeper,
		@DefaultValue Etcd etcd, @DefaultValue Fairness fairness, @DefaultValue Shutdown shutdown,
		@DefaultValue Transaction transaction, @DefaultValue Fencing fencing, @DefaultValue Observation observation) {

	private static final String DEFAULT_ORDER = "" + (Ordered.LOWEST_PRECEDENCE - 100);

	/**
	 * Validates the values.
	 * @throws LockPropertyException if a value is invalid
	 */
	public DistributedLockProperties {
		if (keyPrefix.isBlank()) {
			throw new LockPropertyException("key-prefix", keyPrefix,
					"it is empty, so locks could be mistaken for other keys",
					"Choose a prefix such as 'lock:', or leave the property out.");
		}
		if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
			throw new LockPropertyException("key-prefix", keyPrefix,
					"braces select the slot of a key in a Redis Cluster, which only the key itself may do",
					"Choose a prefix without braces, such as 'lock:'.");
		}
		PropertyRange.check("ttl", ttl, LockOptions.MIN_RENEWED_TTL, LockOptions.MAX_DURATION);
		PropertyRange.check("wait-time", waitTime, Duration.ZERO, LockOptions.MAX_DURATION);
		if (transaction.minRemaining().compareTo(ttl) >= 0) {
			throw new LockPropertyException("transaction.min-remaining", PropertyRange.text(transaction.minRemaining()),
					"no lease is that long: distributed-lock.ttl = " + PropertyRange.text(ttl),
					"Choose a small part of the ttl: the time that a commit takes.");
		}
		if (store == Store.REDLOCK) {
			redlock.check(ttl, redis.commandTimeout());
		}
		if (maxHold != null) {
			PropertyRange.check("max-hold", maxHold, LockOptions.MIN_RENEWED_TTL, LockOptions.MAX_DURATION);
			if (maxHold.compareTo(ttl) < 0) {
				throw new LockPropertyException("max-hold", PropertyRange.text(maxHold),
						"it is shorter than a single lease, distributed-lock.ttl = " + PropertyRange.text(ttl),
						"Choose at least the ttl, or make the ttl shorter.");
			}
		}
	}

	/**
	 * Checks that the store can give the ttl.
	 * @param shortest the shortest ttl of the store
	 * @throws LockPropertyException if the ttl is shorter
	 */
	public void checkTtl(Duration shortest) {
		if (this.ttl.compareTo(shortest) < 0) {
			throw new LockPropertyException("ttl", PropertyRange.text(this.ttl),
					"the store of this application cannot give less than " + PropertyRange.text(shortest),
					"Choose at least that, or another store.");
		}
	}

	/**
	 * Stores of locks.
	 */
	public enum Store {

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
	 * Observations of waits and holds, for traces.
	 *
	 * @param enabled Whether annotated methods and LockTemplate.execute are observed.
	 * Without it, they are if the application has a tracer.
	 * @param includeKey Whether observations have the keys, which may be personal data.
	 */
	public record Observation(@Nullable Boolean enabled, @DefaultValue("false") boolean includeKey) {
	}

	/**
	 * Renewal of leases.
	 *
	 * @param interval Part of the ttl after which a lease is renewed, 0.1 to 0.5. A
	 * larger part leaves no time for a second attempt.
	 * @param batchSize Maximum number of leases that one command renews, 1 to 500.
	 */
	public record Renewal(@DefaultValue("0.333") double interval, @DefaultValue("100") int batchSize) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Renewal {
			PropertyRange.check("renewal.interval", interval, 0.1, 0.5);
			PropertyRange.check("renewal.batch-size", batchSize, 1, 500);
		}

	}

	/**
	 * Communication with Redis.
	 *
	 * @param commandTimeout Maximum wait for a response of Redis, 10 milliseconds to 1
	 * minute, and never more than a third of the ttl. Timeouts of the application's own
	 * connections do not apply.
	 * @param connectTimeout Maximum wait of the first lock for a connection to Redis,
	 * which is opened in the background at startup, 10 milliseconds to 1 minute. Also
	 * applies to calls that do not wait for a busy lock. Later locks wait for the command
	 * timeout only.
	 * @param notifications Whether a message notifies a waiting instance that it has been
	 * granted a lock. When false, as for users without permission for pub/sub, waiting
	 * instances retry periodically.
	 * @param replicaAcks Number of replicas that must acknowledge a lock, and each of its
	 * renewals, before it counts, 0 to 10. With fewer, the lock is released and the call
	 * fails as unavailable. For a single server or Sentinel.
	 * @param replicaAckTimeout Maximum wait for the acknowledgements of replicas. Must be
	 * shorter than the command timeout, of which it is a part.
	 */
	public record Redis(@DefaultValue("1s") Duration commandTimeout, @DefaultValue("5s") Duration connectTimeout,
			@DefaultValue("true") boolean notifications, @DefaultValue("0") int replicaAcks,
			@DefaultValue("500ms") Duration replicaAckTimeout) {

		private static final int MAX_REPLICA_ACKS = 10;

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Redis {
			PropertyRange.check("redis.command-timeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			PropertyRange.check("redis.connect-timeout", connectTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			PropertyRange.check("redis.replica-acks", replicaAcks, 0, MAX_REPLICA_ACKS);
			PropertyRange.check("redis.replica-ack-timeout", replicaAckTimeout, Duration.ofMillis(1),
					Duration.ofMinutes(1));
			if (replicaAcks > 0 && replicaAckTimeout.compareTo(commandTimeout) >= 0) {
				throw new LockPropertyException("redis.replica-ack-timeout", PropertyRange.text(replicaAckTimeout),
						"it is not shorter than distributed-lock.redis.command-timeout = "
								+ PropertyRange.text(commandTimeout) + ", of which it is a part",
						"Choose half of the command timeout, for example, or make the command timeout longer.");
			}
		}

	}

	/**
	 * Servers of the store redlock, a majority of which grants a lock.
	 *
	 * @param nodes Servers: three, five or another odd number, none of them a replica of
	 * another. Each is a URL such as redis://user:password@host:6379 or, with TLS,
	 * rediss://host:6379; or a host, with optional port, username, password, database,
	 * ssl.enabled and ssl.bundle.
	 * @param nodeTimeout Maximum wait for a response of a single server, 1 millisecond to
	 * 20 seconds, and at most a third of redis.command-timeout and a ninth of the ttl.
	 * @param clockDrift Part of a lease by which the clocks of servers and applications
	 * may differ when it ends, 0 to 0.5.
	 * @param longestTtl Longest lease in use, minHold included. A restarted server does
	 * not vote for as long, and longer leases are refused. Without it, the ttl applies.
	 * @param durable Whether each server keeps everything that it has acknowledged when
	 * it restarts (appendfsync always). A restarted server then votes at once.
	 */
	public record Redlock(@DefaultValue List<RedlockNodeProperties> nodes, @DefaultValue("200ms") Duration nodeTimeout,
			@DefaultValue("0.01") double clockDrift, @Nullable Duration longestTtl,
			@DefaultValue("false") boolean durable) {

		/** Requests of an acquisition one after another: vote, confirm, withdraw. */
		private static final int ROUNDS = 3;

		/** The reciprocal of the part of a lease that a command may take. */
		private static final int COMMANDS_PER_TTL = 3;

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Redlock {
			PropertyRange.check("redlock.node-timeout", nodeTimeout, Duration.ofMillis(1), Duration.ofSeconds(20));
			PropertyRange.check("redlock.clock-drift", clockDrift, 0.0, 0.5);
			if (longestTtl != null) {
				PropertyRange.check("redlock.longest-ttl", longestTtl, LockOptions.MIN_TTL, LockOptions.MAX_DURATION);
			}
		}

		/**
		 * Reads the addresses of the nodes.
		 * @return three or more addresses, an odd number
		 * @throws LockPropertyException if the nodes are invalid
		 */
		public List<RedlockAddress> addresses() {
			return RedlockNodesValidator.validate(this.nodes);
		}

		// these properties count only for the store redlock, and depend on others
		private void check(Duration ttl, Duration commandTimeout) {
			addresses();
			checkNodeTimeout(commandTimeout.dividedBy(ROUNDS),
					"an acquisition sends up to three requests to the nodes, which must fit into"
							+ " distributed-lock.redis.command-timeout = " + PropertyRange.text(commandTimeout),
					"command timeout");
			checkNodeTimeout(ttl.dividedBy(ROUNDS * COMMANDS_PER_TTL),
					"slow nodes would use up too much of the lease, distributed-lock.ttl = " + PropertyRange.text(ttl),
					"ttl");
			if (this.longestTtl != null && !this.durable && this.longestTtl.compareTo(ttl) < 0) {
				throw new LockPropertyException("redlock.longest-ttl", PropertyRange.text(this.longestTtl),
						"leases are longer than that: distributed-lock.ttl = " + PropertyRange.text(ttl),
						"Choose the longest ttl of all annotations, requests and the property ttl.");
			}
		}

		private void checkNodeTimeout(Duration max, String problem, String other) {
			if (this.nodeTimeout.compareTo(max) > 0) {
				throw new LockPropertyException("redlock.node-timeout", PropertyRange.text(this.nodeTimeout), problem,
						"Choose at most %dms, or make the %s longer.".formatted(max.toMillis(), other));
			}
		}

	}

	/**
	 * The store in a database.
	 *
	 * @param table Table of locks, unquoted, with an optional schema and a dot before its
	 * name.
	 * @param initializeSchema When to create that table at startup if it does not exist.
	 * @param commandTimeout Maximum wait for a response of the database, 10 milliseconds
	 * to 1 minute, and never more than a third of the ttl.
	 * @param connectTimeout Maximum wait of the first lock for a connection, 10
	 * milliseconds to 1 minute. Later ones wait for the command timeout only.
	 * @param connections Maximum number of connections of the store, 2 to 100, of which
	 * one is for renewals only. On PostgreSQL one more is open while callers wait. They
	 * are in a pool of their own, with the settings of the application's pool, unless
	 * there is a DataSource bean with {@code @LockDataSource}.
	 * @param purgeAfter Deletes the rows of free locks that were acquired last longer ago
	 * than this, 1 hour to 10 years, in the background. Longer than the clock of the
	 * server may ever be set back. Without it, all rows stay.
	 */
	public record Jdbc(@DefaultValue("lock_lease") String table,
			@DefaultValue("embedded") InitializeSchema initializeSchema, @DefaultValue("2s") Duration commandTimeout,
			@DefaultValue("5s") Duration connectTimeout, @DefaultValue("5") int connections,
			@Nullable Duration purgeAfter) {

		private static final int MIN_CONNECTIONS = 2;

		private static final int MAX_CONNECTIONS = 100;

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Jdbc {
			PropertyRange.check("jdbc.command-timeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			PropertyRange.check("jdbc.connect-timeout", connectTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			PropertyRange.check("jdbc.connections", connections, MIN_CONNECTIONS, MAX_CONNECTIONS);
			if (purgeAfter != null) {
				PropertyRange.check("jdbc.purge-after", purgeAfter, Duration.ofHours(1), Duration.ofDays(3650));
			}
		}

	}

	/**
	 * The store in ZooKeeper.
	 *
	 * @param connectString Servers, as host:port, separated by commas. The connection of
	 * a CuratorFramework bean of the application is used instead if there is one.
	 * @param sessionTimeout Session timeout to request, 1 second to 10 minutes. No ttl
	 * may be shorter. A lease lasts for half of it, and longer ones are renewed. The
	 * server may decide on another one.
	 * @param commandTimeout Maximum wait for a response of ZooKeeper, 10 milliseconds to
	 * 1 minute, and never more than a third of the ttl.
	 * @param connectTimeout Maximum wait of the first lock for a connection, 10
	 * milliseconds to 1 minute.
	 * @param root Path below which the locks are. It is created, and removed when it is
	 * empty.
	 * @param auth Credentials in the form scheme:value, such as digest:user:password.
	 * Without it, the connection has none.
	 * @param acl Who may use the nodes of locks.
	 */
	public record Zookeeper(@DefaultValue("localhost:2181") String connectString,
			@DefaultValue("15s") Duration sessionTimeout, @DefaultValue("2s") Duration commandTimeout,
			@DefaultValue("5s") Duration connectTimeout, @DefaultValue("/lockspring") String root,
			@Nullable String auth, @DefaultValue("open") Acl acl) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Zookeeper {
			PropertyRange.check("zookeeper.session-timeout", sessionTimeout, Duration.ofSeconds(1),
					Duration.ofMinutes(10));
			PropertyRange.check("zookeeper.command-timeout", commandTimeout, Duration.ofMillis(10),
					Duration.ofMinutes(1));
			PropertyRange.check("zookeeper.connect-timeout", connectTimeout, Duration.ofMillis(10),
					Duration.ofMinutes(1));
			if (!root.matches("(/[^/]+)+")) {
				throw new LockPropertyException("zookeeper.root", root, "it is not a path below /",
						"Choose a path such as /lockspring or /teams/billing/locks.");
			}
			if (auth != null && auth.indexOf(':') <= 0) {
				throw new LockPropertyException("zookeeper.auth", LockPropertyException.SECRET, "it has no scheme",
						"Write the scheme, a colon and its value, such as digest:user:password.");
			}
		}

		/**
		 * Leaves out the credentials.
		 */
		@Override
		public String toString() {
			return "Zookeeper[connectString=%s, sessionTimeout=%s, root=%s, acl=%s]".formatted(this.connectString,
					this.sessionTimeout, this.root, this.acl);
		}

		/**
		 * Who may use the nodes of locks.
		 */
		public enum Acl {

			/**
			 * All clients.
			 */
			OPEN,

			/**
			 * Clients with the credentials of this application.
			 */
			CREATOR

		}

	}

	/**
	 * The store in etcd.
	 *
	 * @param endpoints URLs of the servers, such as http://host:2379 or, with TLS,
	 * https://host:2379. The client of a Client bean of the application is used instead
	 * if there is one.
	 * @param username Login username. Without it, the client does not authenticate.
	 * @param password Login password. Without it, the client does not authenticate.
	 * @param ssl Encryption of the connections.
	 * @param root Beginning of the names of all keys. A slash follows it.
	 * @param commandTimeout Maximum wait for a response of etcd, 10 milliseconds to 1
	 * minute, and never more than a third of the ttl.
	 * @param connectTimeout Maximum wait of the first lock for a connection, 10
	 * milliseconds to 1 minute. Also applies to each attempt to connect.
	 */
	public record Etcd(@DefaultValue("http://localhost:2379") List<String> endpoints, @Nullable String username,
			@Nullable String password, @DefaultValue Ssl ssl, @DefaultValue("lockspring") String root,
			@DefaultValue("2s") Duration commandTimeout, @DefaultValue("5s") Duration connectTimeout) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Etcd {
			PropertyRange.check("etcd.command-timeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			PropertyRange.check("etcd.connect-timeout", connectTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			EtcdEndpointsValidator.validate(endpoints, ssl.bundle());
			if (root.isBlank()) {
				throw new LockPropertyException("etcd.root", root,
						"it is empty, so locks could be mistaken for other keys",
						"Choose a name such as lockspring, or leave the property out.");
			}
			if ((username == null) != (password == null)) {
				throw new LockPropertyException((username != null) ? "etcd.username" : "etcd.password",
						(username != null) ? username : LockPropertyException.SECRET,
						"user and password need each other", "Set both of them, or none.");
			}
		}

		/**
		 * Returns the values without the password.
		 */
		@Override
		public String toString() {
			return "Etcd[endpoints=%s, username=%s, ssl=%s, root=%s]".formatted(this.endpoints, this.username, this.ssl,
					this.root);
		}

		/**
		 * Encryption of the connections.
		 *
		 * @param bundle Name of the SSL bundle to use. Without it, the trust store of the
		 * JVM applies.
		 */
		public record Ssl(@Nullable String bundle) {
		}

	}

	/**
	 * Sharing of locks between instances.
	 *
	 * @param maxHandoffTime Maximum time for which an instance hands a lock off between
	 * its own threads while other instances wait for it. Zero switches local hand-off
	 * off.
	 */
	public record Fairness(@DefaultValue("10ms") Duration maxHandoffTime) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Fairness {
			PropertyRange.check("fairness.max-handoff-time", maxHandoffTime, Duration.ZERO, Duration.ofMinutes(1));
		}

	}

	/**
	 * Locks when the application stops.
	 *
	 * @param timeout Maximum time for which work that still holds a lock may continue
	 * before its lock is released. Zero releases at once. Web requests and tasks of
	 * executors have ended by then, except those of an executor with
	 * spring.task.execution.shutdown.await-termination: allow for its tasks here too.
	 */
	public record Shutdown(@DefaultValue("10s") Duration timeout) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Shutdown {
			PropertyRange.check("shutdown.timeout", timeout, Duration.ZERO, Duration.ofHours(1));
		}

	}

	/**
	 * Locks in transactions.
	 *
	 * @param releaseAfterCompletion Whether a lock acquired inside a running transaction
	 * is released only after commit or rollback. Otherwise the next holder may read data
	 * from before the commit.
	 * @param verifyBeforeCommit Where to verify before a commit that the locks are still
	 * held; a lost lock turns the commit into a rollback.
	 * @param minRemaining Minimum remaining time of each lease before a commit, to leave
	 * the commit enough time. Up to 1 minute.
	 */
	public record Transaction(@DefaultValue("true") boolean releaseAfterCompletion,
			@DefaultValue("local") Verification verifyBeforeCommit, @DefaultValue("50ms") Duration minRemaining) {

		/**
		 * Validates the values.
		 * @throws LockPropertyException if a value is invalid
		 */
		public Transaction {
			PropertyRange.check("transaction.min-remaining", minRemaining, Duration.ZERO, Duration.ofMinutes(1));
		}

	}

	/**
	 * Fencing in a database.
	 *
	 * @param table Table of fencing tokens, unquoted, with an optional schema and a dot
	 * before its name. Applies only to the auto-configured guard.
	 * @param initializeSchema When to create that table at startup if it does not exist.
	 * Applies only to the auto-configured guard.
	 */
	public record Fencing(@DefaultValue("lock_fence") String table,
			@DefaultValue("embedded") InitializeSchema initializeSchema) {
	}

	/**
	 * When to create a table. Spring Boot has these modes too, but not on each class
	 * path.
	 */
	public enum InitializeSchema {

		/**
		 * At each start. Needs permission to create tables.
		 */
		ALWAYS,

		/**
		 * At each start with an embedded database, such as H2 in memory.
		 */
		EMBEDDED,

		/**
		 * Never; migrations create it.
		 */
		NEVER

	}

}
