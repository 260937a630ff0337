package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadPoolExecutor;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.AcquireResult;
import io.github.lockspring.store.AcquireRequest;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.ReleaseResult;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * Locks on Redis 6.2 or later, or Valkey. A lock is a string key, set with NX and PX,
 * whose value is the owner token, so that it excludes, and is excluded by, every client
 * that locks in this way.
 * <p>
 * Thread-safe. Uses the place and the credentials of the application's connection
 * factory, but connections of its own, and nothing connects before the first request. A
 * request takes no longer than its timeout and the command timeout of the settings.
 *
 * @see <a href=
 * "https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">Distributed
 * Locks with Redis</a>
 */
public final class RedisLockStore implements LockStore {

	private static final Logger logger = LoggerFactory.getLogger(RedisLockStore.class);

	/** Of those that wait to be published; later ones would come too late. */
	private static final int MOST_MESSAGES = 1000;

	private static final Duration LEAST_FENCE_KEEP = Duration.ofMinutes(10);

	private static final int ACQUISITIONS_AT_ONCE = 16;

	// the watchdog's, and those before a lease is passed on or a transaction is committed
	private static final int RENEWALS_AT_ONCE = 4;

	private static final int RELEASES_AT_ONCE = 4;

	private final RedisKeys keys;

	private final RedisStoreSettings settings;

	private final RedisConnections connections;

	private final RedisCommands commands;

	/** Only if replicas acknowledge. */
	private final @Nullable DedicatedConnections dedicated;

	private final ScriptRunner acquisitions;

	private final ScriptRunner renewals;

	private final ScriptRunner releases;

	private final BatchRenewal renewal;

	// one for each instance that uses the store, so hardly ever more than one
	private final List<Inbox> inboxes = new CopyOnWriteArrayList<>();

	private final ThreadPoolExecutor background = DaemonThreads.onDemand("lock-redis-background", 1);

	private RedisLockStore(RedisConnections connections, RedisStoreSettings settings) {
		this.connections = connections;
		this.settings = settings;
		this.keys = new RedisKeys(settings.keyPrefix());
		this.commands = new RedisCommands(connections, settings.commandTimeout());
		int replicas = settings.replicaAcks();
		// releases have to go where the acquisition went: a master that has been replaced
		// and does not know it yet cannot give back what its successor gave
		this.dedicated = (replicas == 0) ? null
				: connections.dedicated(ACQUISITIONS_AT_ONCE + RENEWALS_AT_ONCE + RELEASES_AT_ONCE);
		this.acquisitions = runner("lock-redis-acquire", ACQUISITIONS_AT_ONCE, replicas);
		this.renewals = runner("lock-redis-renew", RENEWALS_AT_ONCE, replicas);
		this.releases = runner("lock-redis-release", RELEASES_AT_ONCE, 0);
		this.renewal = new BatchRenewal(this.renewals, this.keys, connections);
	}

	private ScriptRunner runner(String threads, int size, int replicas) {
		return (this.dedicated == null) ? this.commands : new AcknowledgedCommands(threads, size, this.dedicated,
				this.settings, replicas, this.connections::suspect);
	}

	/**
	 * Makes a store. Does not connect.
	 * @param applicationFactory says where Redis is and who we are there; stays the
	 * application's, and need not have been started
	 * @param settings the settings
	 * @return the store
	 * @throws UnsupportedOperationException if replicas are to acknowledge locks and that
	 * is not possible with this connection factory
	 */
	public static RedisLockStore create(RedisConnectionFactory applicationFactory, RedisStoreSettings settings) {
		RedisConnections connections = ConnectionDeriver.derive(applicationFactory, settings.commandTimeout());
		if (settings.replicaAcks() > 0 && !connections.topology().isOneServer()) {
			connections.close();
			throw new UnsupportedOperationException((connections.topology() == RedisConnections.Topology.CLUSTER)
					? "replicas of a Redis Cluster cannot be waited for"
					: "the connection factory does not say which server is the master, so that its replicas cannot "
							+ "be waited for");
		}
		return new RedisLockStore(connections, settings);
	}

	@Override
	public AcquireResult acquire(AcquireRequest request, Duration timeout) {
		Object[] args = { request.token().toString(), millis(request.ttl()), look(request.queueMode()),
				fenceKeep(request.ttl()), this.keys.inboxPrefix() };
		Reply reply = new Reply(
				this.acquisitions.run(RedisScripts.ACQUIRE, this.keys.all(request.key()), args, timeout));
		return switch (reply.text(0)) {
			case "0" -> new AcquireResult.Busy(reply.number(1), reply.number(2));
			case "1" -> new AcquireResult.Acquired(reply.number(1));
			case "2" -> {
				tell(reply.rest(3));
				yield new AcquireResult.Busy(reply.number(1), reply.number(2));
			}
			default -> throw reply.unexpected();
		};
	}

	private static String look(AcquireRequest.QueueMode look) {
		return switch (look) {
			case NONE -> "0";
			case JOIN -> "1";
			case REJOIN -> "2";
		};
	}

	@Override
	public ReleaseResult release(ReleaseRequest request, Duration timeout) {
		boolean exactCount = this.connections.topology().isOneServer();
		Object[] args = { request.token().toString(), String.valueOf(request.lastFencingToken()),
				millis(request.keep()), fenceKeep(request.ttl()), this.keys.inboxPrefix(), exactCount ? "1" : "0" };
		// what is kept must outlast a failover like the lock itself
		ScriptRunner runner = request.keep().isZero() ? this.releases : this.acquisitions;
		Reply reply = new Reply(runner.run(RedisScripts.RELEASE, this.keys.all(request.key()), args, timeout));
		return switch (reply.text(0)) {
			case "0" -> new ReleaseResult.NotOwner(reply.number(1));
			case "1" -> new ReleaseResult.Released();
			case "2" -> {
				if (reply.number(1) == 0) {
					tell(reply.rest(2));
				}
				yield new ReleaseResult.Released();
			}
			default -> throw reply.unexpected();
		};
	}

	/*
	 * Where scripts may not publish. Only once: whoever waits looks by itself, and a
	 * message that comes late enough is of no use.
	 */
	private void tell(String message) {
		OwnerToken token = InboxMessages.addressee(message).orElse(null);
		if (token == null || this.background.getQueue().size() >= MOST_MESSAGES) {
			return;
		}
		try {
			this.background.execute(() -> {
				try {
					this.commands.publish(this.keys.inbox(token.instance()), message);
				}
				catch (RuntimeException ex) {
					logger.debug("An instance could not be told: " + message, ex);
				}
			});
		}
		catch (RuntimeException | Error ex) {
			// closed meanwhile, or no thread: the script's answer counts all the same
			logger.debug("An instance could not be told: " + message, ex);
		}
	}

	@Override
	public List<RenewResult> renew(List<RenewRequest> requests, Duration timeout) {
		return this.renewal.renew(requests, timeout);
	}

	@Override
	public String shard(String key) {
		return this.connections.shard(this.keys.lock(key));
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		if (!this.settings.notifications() || !this.connections.canSubscribe()) {
			return Optional.empty();
		}
		Inbox inbox = new RedisInbox(this.connections, this.commands, this.settings.commandTimeout(), this.keys,
				instance, listener, this.settings.replicaAcks() > 0);
		this.inboxes.add(inbox);
		return Optional.of(inbox);
	}

	@Override
	public void close() {
		this.inboxes.forEach(Inbox::close);
		this.background.shutdownNow();
		this.acquisitions.close();
		this.renewals.close();
		this.releases.close();
		if (this.dedicated != null) {
			this.dedicated.close();
		}
		this.connections.close();
	}

	// a duration below a millisecond is still one: zero would mean none
	private static String millis(Duration duration) {
		return String.valueOf(duration.isZero() ? 0 : Math.max(1, duration.toMillis()));
	}

	private static String fenceKeep(Duration ttl) {
		Duration twice = ttl.plus(ttl);
		return millis((twice.compareTo(LEAST_FENCE_KEEP) > 0) ? twice : LEAST_FENCE_KEEP);
	}

	/**
	 * An answer of a script: words, after which there may be a message.
	 */
	private static final class Reply {

		private final String answer;

		private final String[] words;

		Reply(String answer) {
			this.answer = answer;
			this.words = answer.split(" ");
		}

		long number(int index) {
			try {
				return Long.parseLong(text(index));
			}
			catch (NumberFormatException ex) {
				LockUnavailableException unexpected = unexpected();
				unexpected.addSuppressed(ex);
				throw unexpected;
			}
		}

		String text(int index) {
			if (index >= this.words.length) {
				throw unexpected();
			}
			return this.words[index];
		}

		/**
		 * What follows the first so many words.
		 */
		String rest(int count) {
			String[] parts = this.answer.split(" ", count + 1);
			if (parts.length <= count) {
				throw unexpected();
			}
			return parts[count];
		}

		LockUnavailableException unexpected() {
			return UnavailableTranslator.unexpected(this.answer);
		}

	}

}
