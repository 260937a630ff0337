package io.github.lockspring.testsupport.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import static org.awaitility.Awaitility.await;

/**
 * A master, two replicas and three sentinels, each a process. A failover begins half a
 * second after the end of the master and takes one or two seconds more; a former master
 * that comes back is made a replica within three seconds. Thread-safe as far as its
 * servers are.
 *
 * @since 0.1
 */
public final class SentinelGroup implements AutoCloseable {

	/** The name by which sentinels know the master. */
	public static final String NAME = "mymaster";

	private static @Nullable SentinelGroup shared;

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private static final int REPLICAS = 2;

	private static final int SENTINELS = 3;

	private final @Nullable String password;

	private final @Nullable String sentinelPassword;

	private final List<RedisServer> servers = new ArrayList<>();

	private final List<SentinelServer> sentinels = new ArrayList<>();

	private SentinelGroup(@Nullable String password, @Nullable String sentinelPassword) {
		this.password = password;
		this.sentinelPassword = sentinelPassword;
	}

	/**
	 * Returns the group that is shared by tests that leave it as they found it, except
	 * for which server is the master. It has passwords.
	 */
	public static synchronized SentinelGroup shared() {
		if (shared == null) {
			shared = start("data", "sentinels");
		}
		return shared;
	}

	/** Starts a group without passwords. */
	public static SentinelGroup start() {
		return start(null, null);
	}

	/** Starts a group with passwords for the data servers and for the sentinels. */
	public static SentinelGroup start(@Nullable String password, @Nullable String sentinelPassword) {
		SentinelGroup group = new SentinelGroup(password, sentinelPassword);
		try {
			group.startAll();
			return group;
		}
		catch (RuntimeException | Error ex) {
			group.close();
			throw ex;
		}
	}

	private void startAll() {
		List<String> config = new ArrayList<>(List.of("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0",
				"--repl-ping-replica-period", "1", "--repl-timeout", "5"));
		if (this.password != null) {
			config.addAll(List.of("--requirepass", this.password, "--masterauth", this.password));
		}
		for (int i = 0; i <= REPLICAS; i++) {
			this.servers.add(RedisServer.start(config.toArray(String[]::new)));
		}
		RedisServer master = this.servers.get(0);
		for (RedisServer replica : this.servers.subList(1, this.servers.size())) {
			follow(replica, master);
		}
		awaitReplicas(master, REPLICAS);
		List<Integer> ports = Stream.generate(RedisProcess::freePort).limit(SENTINELS).toList();
		for (int i = 0; i < SENTINELS; i++) {
			this.sentinels.add(SentinelServer.member(i, ports, master.port(), this.password, this.sentinelPassword));
		}
		awaitHealthy();
	}

	/** Returns the password of the data servers, or null. */
	public @Nullable String password() {
		return this.password;
	}

	/** Returns the password of the sentinels, or null. */
	public @Nullable String sentinelPassword() {
		return this.sentinelPassword;
	}

	/** Returns host and port of each sentinel, with a colon between them. */
	public Set<String> addresses() {
		return this.sentinels.stream().map(SentinelServer::address).collect(Collectors.toSet());
	}

	/** Returns the sentinels. */
	public List<SentinelServer> sentinels() {
		return List.copyOf(this.sentinels);
	}

	/** Returns all data servers, whether they run or not. */
	public List<RedisServer> servers() {
		return List.copyOf(this.servers);
	}

	/** Returns the master of this moment, as the first sentinel that runs knows it. */
	public RedisServer master() {
		SentinelServer sentinel = this.sentinels.stream().filter(SentinelServer::isRunning).findFirst().orElseThrow();
		return master(sentinel);
	}

	private RedisServer master(SentinelServer sentinel) {
		List<?> address = (List<?>) Objects
			.requireNonNull(sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", NAME));
		return server(Integer.parseInt((String) Objects.requireNonNull(address.get(1))));
	}

	private RedisServer server(int port) {
		return this.servers.stream().filter((each) -> each.port() == port).findFirst().orElseThrow();
	}

	/**
	 * Waits until another server is the master and all sentinels have noticed.
	 * @return that server
	 */
	public RedisServer awaitFailoverFrom(RedisServer old) {
		await("failover from " + old.port()).atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> this.sentinels.stream()
				.filter(SentinelServer::isRunning)
				.allMatch((each) -> master(each) != old && isMaster(master(each))));
		return master();
	}

	/**
	 * SENTINEL FAILOVER: replaces the master although it works.
	 * @return the new master
	 */
	public RedisServer failOver() {
		RedisServer old = master();
		// refused while the sentinel still has something to do for the last one
		await().atMost(PATIENCE)
			.ignoreExceptions()
			.until(() -> "OK".equals(this.sentinels.get(0).command("SENTINEL", "FAILOVER", NAME)));
		return awaitFailoverFrom(old);
	}

	/** Starts a server that was killed, as an empty replica of the present master. */
	public void restart(RedisServer server) {
		server.restart();
		follow(server, master());
	}

	/** Waits until the master has all its replicas and the sentinels agree about it. */
	public void awaitHealthy() {
		await("a healthy group").atMost(PATIENCE).ignoreExceptions().until(() -> {
			RedisServer master = master();
			return isMaster(master) && replicas(master) == REPLICAS
					&& this.sentinels.stream()
						.allMatch((each) -> master(each) == master
								&& each.text("SENTINEL", "CKQUORUM", NAME).startsWith("OK " + SENTINELS)
								&& knowsAll(each));
		});
	}

	// a sentinel does not promote a replica that it does not know or thinks is down
	private boolean knowsAll(SentinelServer sentinel) {
		List<?> replicas = (List<?>) Objects.requireNonNull(sentinel.command("SENTINEL", "REPLICAS", NAME));
		return replicas.size() == REPLICAS && replicas.stream()
			.allMatch((replica) -> ((List<?>) Objects.requireNonNull(replica)).contains("slave")
					&& replica.toString().contains("master-link-status, ok"));
	}

	private static void follow(RedisServer replica, RedisServer master) {
		replica.command("REPLICAOF", master.host(), String.valueOf(master.port()));
	}

	private static boolean isMaster(RedisServer server) {
		return "master".equals(((List<?>) Objects.requireNonNull(server.command("ROLE"))).get(0));
	}

	private static int replicas(RedisServer master) {
		return master.text("INFO", "replication").split("state=online", -1).length - 1;
	}

	/** Waits until a master has the given number of connected replicas. */
	public static void awaitReplicas(RedisServer master, int replicas) {
		await(replicas + " replicas").atMost(PATIENCE).until(() -> replicas(master) == replicas);
	}

	@Override
	public void close() {
		this.sentinels.forEach(SentinelServer::close);
		this.servers.forEach(RedisServer::close);
	}

}
