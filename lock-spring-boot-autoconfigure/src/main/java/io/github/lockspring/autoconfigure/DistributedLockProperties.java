package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockSpec;
import io.github.lockspring.transaction.Verification;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.core.Ordered;

/**
 * Properties of the locks. Durations need a unit; a wrong value stops the start.
 *
 * @param enabled Whether methods run under their locks. When false, annotated methods run
 * without one, the locks of a LockTemplate exclude only this process, and no Redis is
 * needed.
 * @param store Where the locks are kept, unless the application defines a LockStore bean.
 * @param keyPrefix Put before each key in the store. Not empty, and without braces.
 * Applications that share locks need the same one.
 * @param ttl Length of a lease where the annotation or the request gives none; it is then
 * renewed for as long as the work runs. 300 milliseconds at least.
 * @param waitTime Longest wait for a busy lock where the annotation or the request gives
 * none. Zero is one attempt.
 * @param maxHold Renewal of a lease ends this long after the acquisition, unless the
 * annotation or the request says otherwise. Without it, a lease is renewed until the work
 * ends.
 * @param order Order of the lock's advice among the advice of a method. Smaller is
 * further outside; the default is outside of transactions and caches, whose own default
 * is the largest number.
 * @param renewal How leases are kept alive.
 * @param redis How Redis is asked.
 * @param redlock The independent servers of the store redlock.
 * @param fairness How instances share a lock.
 * @param shutdown What happens when the application stops.
 * @param transaction What locks and transactions have to do with each other.
 * @param fencing How the database refuses work whose lock was lost.
 */
@ConfigurationProperties(DistributedLockProperties.PREFIX)
public record DistributedLockProperties(@DefaultValue("true") boolean enabled, @DefaultValue("redis") Store store,
		@DefaultValue("lock:") String keyPrefix, @DefaultValue("30s") Duration ttl,
		@DefaultValue("5s") Duration waitTime, @Nullable Duration maxHold, @DefaultValue(DEFAULT_ORDER) int order,
		@DefaultValue Renewal renewal, @DefaultValue Redis redis, @DefaultValue Redlock redlock,
		@DefaultValue Fairness fairness, @DefaultValue Shutdown shutdown, @DefaultValue Transaction transaction,
		@DefaultValue Fencing fencing) {

	static final String PREFIX = "distributed-lock";

	private static final String DEFAULT_ORDER = "" + (Ordered.LOWEST_PRECEDENCE - 100);

	/**
	 * Checks the values.
	 * @throws LockPropertyException if one is wrong
	 */
	public DistributedLockProperties {
		if (keyPrefix.isBlank()) {
			throw new LockPropertyException("key-prefix", keyPrefix,
					"it is empty, so locks could be mistaken for other keys",
					"Choose a prefix such as 'lock:', or leave the property out.");
		}
		if (keyPrefix.indexOf('{') >= 0 || keyPrefix.indexOf('}') >= 0) {
			throw new LockPropertyException("key-prefix", keyPrefix,
					"braces decide in which slot of a Redis Cluster a key lives, and that is the key's own affair",
					"Choose a prefix without braces, such as 'lock:'.");
		}
		Limits.check("ttl", ttl, LockSpec.MIN_RENEWED_TTL, LockSpec.MAX_DURATION);
		Limits.check("wait-time", waitTime, Duration.ZERO, LockSpec.MAX_DURATION);
		if (transaction.minRemaining().compareTo(ttl) >= 0) {
			throw new LockPropertyException("transaction.min-remaining", Limits.text(transaction.minRemaining()),
					"no lease is ever that long: distributed-lock.ttl = " + Limits.text(ttl),
					"Make it a small part of the ttl: the time that a commit takes.");
		}
		if (store == Store.REDLOCK) {
			RedlockRules.check(redlock, ttl, redis.commandTimeout());
		}
		if (maxHold != null) {
			Limits.check("max-hold", maxHold, LockSpec.MIN_RENEWED_TTL, LockSpec.MAX_DURATION);
			if (maxHold.compareTo(ttl) < 0) {
				throw new LockPropertyException("max-hold", Limits.text(maxHold),
						"it is shorter than a single lease, distributed-lock.ttl = " + Limits.text(ttl),
						"Make it at least as long as the ttl, or make the ttl shorter.");
			}
		}
	}

	/**
	 * Kinds of store.
	 */
	public enum Store {

		/**
		 * The Redis server of the application's RedisConnectionFactory.
		 */
		REDIS,

		/**
		 * A majority of several independent Redis servers,
		 * distributed-lock.redlock.nodes.
		 */
		REDLOCK,

		/**
		 * The memory of this process: for tests, and for applications with one instance.
		 */
		MEMORY

	}

	/**
	 * How leases are kept alive.
	 *
	 * @param interval A lease is renewed after this part of its ttl, 0.1 to 0.5. More
	 * than half would leave no time for a second attempt.
	 * @param batchSize Most leases that are renewed in one command, 1 to 500.
	 */
	public record Renewal(@DefaultValue("0.333") double interval, @DefaultValue("100") int batchSize) {

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Renewal {
			Limits.check("renewal.interval", interval, 0.1, 0.5);
			Limits.check("renewal.batch-size", batchSize, 1, 500);
		}

	}

	/**
	 * How Redis is asked.
	 *
	 * @param commandTimeout Longest time to wait for an answer of Redis, 10 milliseconds
	 * to 1 minute, whatever the timeout of the application's own connections is. It is
	 * never more than a third of the ttl.
	 * @param notifications Whether waiting instances are told by a message that it is
	 * their turn. Without, as for users who may not use pub/sub, they ask again and
	 * again.
	 * @param replicaAcks How many replicas must have received a lock, and each renewal of
	 * it, before it counts. With fewer the lock is given back and the call fails as
	 * unavailable. 0: the master alone decides. Behind Sentinel, or on a single server
	 * with replicas.
	 * @param replicaAckTimeout Longest wait for these replicas. A part of the command
	 * timeout, so it has to be shorter.
	 */
	public record Redis(@DefaultValue("1s") Duration commandTimeout, @DefaultValue("true") boolean notifications,
			@DefaultValue("0") int replicaAcks, @DefaultValue("500ms") Duration replicaAckTimeout) {

		private static final int MOST_REPLICA_ACKS = 10;

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Redis {
			Limits.check("redis.command-timeout", commandTimeout, Duration.ofMillis(10), Duration.ofMinutes(1));
			Limits.check("redis.replica-acks", replicaAcks, 0, MOST_REPLICA_ACKS);
			Limits.check("redis.replica-ack-timeout", replicaAckTimeout, Duration.ofMillis(1), Duration.ofMinutes(1));
			if (replicaAcks > 0 && replicaAckTimeout.compareTo(commandTimeout) >= 0) {
				throw new LockPropertyException("redis.replica-ack-timeout", Limits.text(replicaAckTimeout),
						"it is not shorter than distributed-lock.redis.command-timeout = " + Limits.text(commandTimeout)
								+ ", of which it is a part",
						"Make it shorter, half of the command timeout for example, or the command timeout longer.");
			}
		}

	}

	/**
	 * Several independent servers, of which a majority decides.
	 *
	 * @param nodes The servers: three, five or another odd number, none of them a replica
	 * of another. Each is a URL such as redis://user:password@host:6379 or, with TLS,
	 * rediss://host:6379; or has a host, and where need be a port, username, password,
	 * database, ssl.enabled and ssl.bundle.
	 * @param nodeTimeout Longest time to wait for a single server, 1 millisecond to 20
	 * seconds, and at most a third of redis.command-timeout and a ninth of the ttl.
	 * @param clockDrift The part of a lease by which the clocks of servers and
	 * applications may differ when it ends, 0 to 0.5.
	 * @param longestTtl The longest lease in use, minHold included: a server that was
	 * restarted has no vote for as long, and longer leases are refused. Without it, the
	 * ttl.
	 * @param durable Whether all servers still have after a restart whatever they have
	 * answered (appendfsync always). They then vote at once.
	 */
	public record Redlock(@DefaultValue List<RedlockNodeProperties> nodes, @DefaultValue("200ms") Duration nodeTimeout,
			@DefaultValue("0.01") double clockDrift, @Nullable Duration longestTtl,
			@DefaultValue("false") boolean durable) {

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Redlock {
			Limits.check("redlock.node-timeout", nodeTimeout, Duration.ofMillis(1), Duration.ofSeconds(20));
			Limits.check("redlock.clock-drift", clockDrift, 0, 0.5);
			if (longestTtl != null) {
				Limits.check("redlock.longest-ttl", longestTtl, LockSpec.MIN_TTL, LockSpec.MAX_DURATION);
			}
		}

	}

	/**
	 * How instances share a lock.
	 *
	 * @param maxTenure How long an instance may go on passing a lock from thread to
	 * thread while other instances wait for it. Zero: not at all.
	 */
	public record Fairness(@DefaultValue("10ms") Duration maxTenure) {

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Fairness {
			Limits.check("fairness.max-tenure", maxTenure, Duration.ZERO, Duration.ofMinutes(1));
		}

	}

	/**
	 * What happens when the application stops.
	 *
	 * @param timeout How long work that still holds a lock may take to end before its
	 * lock is released under it. Zero: released at once. Web requests have ended by then,
	 * and the tasks of executors, unless an executor has
	 * spring.task.execution.shutdown.await-termination: give its tasks the time here too.
	 */
	public record Shutdown(@DefaultValue("10s") Duration timeout) {

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Shutdown {
			Limits.check("shutdown.timeout", timeout, Duration.ZERO, Duration.ofHours(1));
		}

	}

	/**
	 * What locks and transactions have to do with each other.
	 *
	 * @param releaseAfterCompletion Whether a lock that is taken inside a running
	 * transaction is given back only when that is committed or rolled back. Otherwise the
	 * next holder may read what the transaction has not written yet.
	 * @param verifyBeforeCommit Who is asked before a commit whether the locks are still
	 * held; a lost one turns the commit into a rollback.
	 * @param minRemaining Time that must be left of each lease before a commit, so that
	 * the commit itself ends in time. Up to 1 minute.
	 */
	public record Transaction(@DefaultValue("true") boolean releaseAfterCompletion,
			@DefaultValue("local") Verification verifyBeforeCommit, @DefaultValue("50ms") Duration minRemaining) {

		/**
		 * Checks the values.
		 * @throws LockPropertyException if one is wrong
		 */
		public Transaction {
			Limits.check("transaction.min-remaining", minRemaining, Duration.ZERO, Duration.ofMinutes(1));
		}

	}

	/**
	 * How the database refuses work whose lock was lost.
	 *
	 * @param table Name of the table of fencing tokens, unquoted, with a schema and a dot
	 * before it where need be. Only for the guard that is made by itself.
	 * @param initializeSchema When that table is made at startup, unless it is there.
	 */
	public record Fencing(@DefaultValue("lock_fence") String table,
			@DefaultValue("embedded") InitializeSchema initializeSchema) {
	}

	/**
	 * When a table is made. Spring Boot's own modes, which are not on every class path.
	 */
	public enum InitializeSchema {

		/**
		 * At each start. Needs the right to create tables.
		 */
		ALWAYS,

		/**
		 * At each start on an embedded database, such as H2 in memory.
		 */
		EMBEDDED,

		/**
		 * Never: migrations do, or a person.
		 */
		NEVER

	}

}
