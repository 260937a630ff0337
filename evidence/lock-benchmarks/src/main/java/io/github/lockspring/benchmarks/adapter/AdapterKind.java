package io.github.lockspring.benchmarks.adapter;

import io.github.lockspring.LockTemplate;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The kinds of locks, in the order of the tables.
 */
public enum AdapterKind {

	/**
	 * The least that a lock on Redis costs; it cannot wait.
	 */
	FLOOR(FloorAdapter::new, true, Set.of("set"), Ability.UNCONTENDED),

	/**
	 * This project's {@code LockTemplate.execute}, as in every application with the
	 * starter.
	 */
	LOCKSPRING(LockspringAdapter::waiting, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED, Ability.HELD),

	/**
	 * The same without events.
	 */
	LOCKSPRING_PLAIN(LockspringAdapter::withoutEvents, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * That of the starter with releases that callers do not wait for.
	 */
	LOCKSPRING_ASYNC(LockspringAdapter::notWaiting, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * The least that a lock costs over Jedis, with a connection for each thread.
	 */
	FLOOR_JEDIS(JedisFloorAdapter::new, true, Set.of("set"), Ability.UNCONTENDED),

	/**
	 * This project's {@code LockTemplate.execute} over Jedis.
	 */
	LOCKSPRING_JEDIS(LockspringAdapter::overJedis, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * Redisson's {@code RLock}.
	 */
	REDISSON(RedissonAdapter::plain, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED, Ability.HELD),

	/**
	 * Redisson's spin lock, which publishes nothing and tries again.
	 */
	REDISSON_SPIN(RedissonAdapter::spin, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * Redisson's fair lock, which has a queue.
	 */
	REDISSON_FAIR(RedissonAdapter::fair, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * Spring Integration's registry, which listens for releases.
	 */
	SPRING_INTEGRATION_PUBSUB(SpringIntegrationAdapter::pubSub, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * Spring Integration's registry, which tries again.
	 */
	SPRING_INTEGRATION_SPIN(SpringIntegrationAdapter::spin, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * lock4j on {@code RedisTemplate}.
	 */
	LOCK4J(Lock4jAdapter::new, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * ShedLock as it is by default: it deletes the key without asking whose it is.
	 */
	SHEDLOCK(ShedLockAdapter::plain, false, Set.of("set", "del"), Ability.UNCONTENDED),

	/**
	 * ShedLock's "safe update", which compares the owner.
	 */
	SHEDLOCK_SAFE(ShedLockAdapter::safe, true, Set.of("set"), Ability.UNCONTENDED),

	/**
	 * Curator's {@code InterProcessMutex} on ZooKeeper, shared by a process' threads.
	 */
	CURATOR(CuratorAdapter::shared, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * The same with one for each thread.
	 */
	CURATOR_OWN(CuratorAdapter::own, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * This project's locks in ZooKeeper.
	 */
	LOCKSPRING_ZOOKEEPER(LockspringAdapter::onZooKeeper, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * jetcd's {@code Lock} on etcd.
	 */
	JETCD(JetcdAdapter::new, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * This project's locks in etcd.
	 */
	LOCKSPRING_ETCD(LockspringAdapter::onEtcd, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * This project's locks in a table of PostgreSQL.
	 */
	LOCKSPRING_JDBC(LockspringAdapter::onJdbc, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED),

	/**
	 * ShedLock's {@code JdbcTemplateLockProvider} with the clock of the server.
	 */
	SHEDLOCK_JDBC(ShedLockJdbcAdapter::new, true, Set.of(), Ability.UNCONTENDED),

	/**
	 * Spring Integration's {@code JdbcLockRegistry}.
	 */
	SPRING_INTEGRATION_JDBC(SpringIntegrationJdbcAdapter::new, true, Set.of(), Ability.UNCONTENDED, Ability.CONTENDED);

	/**
	 * The abilities of an adapter.
	 */
	public enum Ability {

		/**
		 * Take free locks.
		 */
		UNCONTENDED,

		/**
		 * Wait.
		 */
		CONTENDED,

		/**
		 * Renew what it holds.
		 */
		HELD

	}

	private final Function<Servers, LockAdapter> factory;

	private final boolean comparesOwner;

	private final Set<String> directCommands;

	private final Set<Ability> abilities;

	AdapterKind(Function<Servers, LockAdapter> factory, boolean comparesOwner, Set<String> directCommands,
			Ability... abilities) {
		this.factory = factory;
		this.comparesOwner = comparesOwner;
		this.directCommands = directCommands;
		this.abilities = Set.of(abilities);
	}

	/**
	 * Returns where its locks are.
	 * @return the kind of server that it needs
	 */
	public Server server() {
		return switch (this) {
			case LOCKSPRING_JDBC, SHEDLOCK_JDBC, SPRING_INTEGRATION_JDBC -> Server.POSTGRESQL;
			case CURATOR, CURATOR_OWN, LOCKSPRING_ZOOKEEPER -> Server.ZOOKEEPER;
			case JETCD, LOCKSPRING_ETCD -> Server.ETCD;
			default -> Server.REDIS;
		};
	}

	/**
	 * Returns whether it takes part without being named.
	 * @return false for those that have a table of their own, and for the one that shows
	 * what events cost
	 */
	public boolean isDefault() {
		return server() == Server.REDIS && this != LOCKSPRING_PLAIN || this == CURATOR || this == CURATOR_OWN;
	}

	/**
	 * Returns whether it is a lock of this project.
	 * @return false for the peers
	 */
	public boolean isOurs() {
		return id().startsWith("lockspring");
	}

	/**
	 * Where locks are.
	 */
	public enum Server {

		REDIS, POSTGRESQL, ZOOKEEPER, ETCD

	}

	/**
	 * The name in options and tables.
	 * @return lower case, with hyphens
	 */
	public String id() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

	/**
	 * The kind with this name.
	 * @param id its {@link #id()}
	 * @return the kind
	 * @throws IllegalArgumentException if there is none
	 */
	public static AdapterKind of(String id) {
		return Arrays.stream(values())
			.filter((kind) -> kind.id().equals(id))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("No adapter '" + id + "'; there are "
					+ Arrays.stream(values()).map(AdapterKind::id).collect(Collectors.joining(", "))));
	}

	/**
	 * Connects.
	 * @param servers where to
	 * @return the adapter
	 */
	public LockAdapter connect(Servers servers) {
		return this.factory.apply(servers);
	}

	/**
	 * Returns whether a release leaves the lock of another owner alone.
	 * @return false if it deletes the key without comparing the owner
	 */
	public boolean comparesOwner() {
		return this.comparesOwner;
	}

	/**
	 * The commands that the adapter's client sends itself, beside scripts and
	 * subscriptions. Redis counts those called inside scripts under the same names; no
	 * adapter has one name in both places.
	 * @return names as in {@code INFO commandstats}
	 */
	public Set<String> directCommands() {
		return this.directCommands;
	}

	/**
	 * The name that Redis knows a lock by.
	 * @param key the lock's key
	 * @return the name
	 * @throws UnsupportedOperationException if it does not hold locks for long
	 */
	public String redisKey(String key) {
		return switch (this) {
			case LOCKSPRING -> LockspringAdapter.PREFIX + key;
			case REDISSON -> RedissonAdapter.PREFIX + key;
			default -> throw new UnsupportedOperationException(id());
		};
	}

	/**
	 * Whether it can take part.
	 * @param ability what a scenario needs
	 * @return whether it can
	 */
	public boolean can(Ability ability) {
		return this.abilities.contains(ability);
	}

}
