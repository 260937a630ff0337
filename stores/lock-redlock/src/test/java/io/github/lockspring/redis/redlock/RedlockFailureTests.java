package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import ch.qos.logback.core.UnsynchronizedAppenderBase;
import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.redis.internal.client.DerivedConnections;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.TTL;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.renew;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * What happens to Redlock when nodes fail: five real servers behind proxies.
 */
class RedlockFailureTests {

	private static final boolean LONG = Integer.getInteger("lockspring.topology.rounds", 0) > 1;

	private static final String KEY = "order:42";

	private static final String LOCK = "lock:" + KEY;

	private static final String FENCE = new RedisKeys("lock:").lockAndFencingToken(KEY).get(1);

	/**
	 * Where two of five nodes are gone, each of the others must answer in time, and a
	 * busy machine may not run one of them for seconds. No test waits for this long.
	 */
	private static final Duration NODE_TIMEOUT = Duration.ofSeconds(8);

	/** The same, in tests that wait for as long as this. */
	private static final Duration BRIEF_TIMEOUT = Duration.ofSeconds(4);

	/** A vote is given a third of it at most: no less than the timeout of a node. */
	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(30);

	private static final RedlockServers servers = Nodes.FIVE;

	private final List<RedlockLockStore> stores = new ArrayList<>();

	/** The clients of all stores. */
	private final List<RedlockNodeClient> clients = new ArrayList<>();

	@BeforeEach
	void flush() {
		servers.heal();
	}

	@AfterEach
	void close() {
		servers.heal();
		this.stores.forEach(RedlockLockStore::close);
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, silent", "JEDIS, silent", "LETTUCE, cut off", "JEDIS, cut off", "LETTUCE, stopped",
			"JEDIS, stopped", "LETTUCE, killed", "JEDIS, killed" })
	void f12AnyTwoNodesKilledStoppedOrCutOffAreNotWaitedFor(Driver driver, String fault) {
		assumeTrue(LONG || driver == Driver.LETTUCE || fault.matches("silent|cut off"));
		RedlockLockStore store = store(driver, NODE_TIMEOUT);
		for (int one = 0; one < 5; one++) {
			for (int other = one + 1; other < (LONG ? 5 : one + 2) && other < 5; other++) {
				Nodes.awaitAll(store, servers);
				fail(fault, one);
				fail(fault, other);
				try {
					// each time another lock: votes under way when a node comes back
					// may yet be given and are then withdrawn
					assertWorksWithoutWaiting(store, "%s %d and %d".formatted(fault, one, other));
				}
				finally {
					comeBack(fault, one);
					comeBack(fault, other);
					servers.heal();
				}
			}
		}
	}

	private static void fail(String fault, int node) {
		switch (fault) {
			case "silent" -> servers.proxy(node).stall();
			case "cut off" -> servers.cutOff(node);
			case "stopped" -> servers.server(node).pause();
			default -> servers.server(node).kill();
		}
	}

	private static void comeBack(String fault, int node) {
		switch (fault) {
			case "stopped" -> servers.server(node).resume();
			case "killed" -> servers.server(node).restart();
			default -> servers.restore(node);
		}
	}

	private static void assertWorksWithoutWaiting(RedlockLockStore store, String key) {
		OwnerToken token = token();
		long start = System.nanoTime();
		assertThat(acquire(store, key, token)).isInstanceOf(Acquired.class);
		assertThat(renew(store, key, token)).containsExactly(RenewResult.RENEWED);
		assertThat(acquire(store, key, token())).isInstanceOf(Busy.class);
		assertThat(release(store, key, token)).isEqualTo(new Released());
		assertThat(release(store, key, token)).isInstanceOf(NotOwner.class);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(NODE_TIMEOUT);
	}

	/** What waits for the appender waits until the end of the test. */
	@ParameterizedTest
	@EnumSource
	void appenderThatBlocksAtTheFailureOfANodeDelaysNoVote(Driver driver) {
		RedlockLockStore store = store(driver, NODE_TIMEOUT);
		Nodes.awaitAll(store, servers);
		Logger logger = (Logger) LoggerFactory.getLogger(RedlockNodeClient.class);
		CompletableFuture<Void> released = new CompletableFuture<>();
		Set<String> threads = ConcurrentHashMap.newKeySet();
		Appender<ILoggingEvent> appender = new UnsynchronizedAppenderBase<>() {

			@Override
			protected void append(ILoggingEvent event) {
				threads.add(Thread.currentThread().getName());
				released.join();
			}

		};
		appender.setContext(logger.getLoggerContext());
		appender.start();
		logger.addAppender(appender);
		try {
			fail("cut off", 0);
			for (int i = 0; i < 3; i++) {
				assertWorksWithoutWaiting(store, "behind the appender " + i);
			}
			await().until(() -> !threads.isEmpty());
			assertThat(threads).containsExactly("lock-log");
		}
		finally {
			logger.detachAppender(appender);
			released.complete(null);
		}
	}

	@ParameterizedTest
	@EnumSource
	void f12ThreeNodesDownAreAClearErrorAndLeaveNothingAtTheOthers(Driver driver) {
		RedlockLockStore store = store(driver, BRIEF_TIMEOUT);
		OwnerToken held = token();
		acquire(store, "held", held);
		servers.proxy(1).stall();
		servers.proxy(2).stall(Direction.TO_CLIENT);
		servers.cutOff(4);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, token()))
			.withMessageContainingAll("2 of 5 nodes can vote, 3 needed: ", name(1) + ": did not reply within 4s",
					name(2) + ": did not reply within 4s", name(4))
			.withMessageNotContaining(name(0))
			.withMessageNotContaining(name(3));
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(COMMAND_TIMEOUT);
		assertThat(servers.server(0).exists(LOCK)).isFalse();
		assertThat(servers.server(3).exists(LOCK)).isFalse();
		if (driver == Driver.LETTUCE) {
			// node 2 has voted, and was told to forget it although its answer was lost;
			// Jedis would need another connection for that
			await().until(() -> servers.having(LOCK).isEmpty());
		}
		// a renewal need not wait for nodes that refuse connections
		servers.cutOff(1, 2);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> renew(store, "held", held))
			.withMessageContaining("2 of 5 nodes replied, 3 needed: " + name(1));
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(store, "held", held))
			.withMessageContaining("2 of 5 nodes released the lock, 3 needed: " + name(1));
	}

	@Test
	void nodesThatRefuseToWriteDoNotVoteAndAreNamed() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		try {
			servers.server(0).command("REPLICAOF", "127.0.0.1", "1");
			servers.server(1).command("CONFIG", "SET", "maxmemory", "1");
			OwnerToken token = token();
			assertThat(acquire(store, token)).isInstanceOf(Acquired.class);
			assertThat(renew(store, KEY, token)).containsExactly(RenewResult.RENEWED);
			assertThat(release(store, KEY, token)).isEqualTo(new Released());
			servers.server(2).command("RPUSH", LOCK, "another library's");
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, token()))
				.withMessageContainingAll("2 of 5 nodes can vote, 3 needed: " + name(0) + ": READONLY",
						name(1) + ": OOM", name(2) + ": WRONGTYPE");
			// a vote that came after the outcome is taken back in the background
			await().untilAsserted(() -> assertThat(servers.having(LOCK)).containsExactly(servers.server(2)));
		}
		finally {
			servers.server(0).command("REPLICAOF", "NO", "ONE");
			servers.server(1).command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	void serverThatIsNamedTwiceVotesOnce() {
		int twice = servers.server(0).port();
		List<RedisConnectionFactory> nodes = Driver.LETTUCE.redlockNodes(twice, servers.proxy(0).port(),
				servers.server(1).port());
		RedlockLockStore store = RedlockLockStore.create(nodes, settings(NODE_TIMEOUT, 0, true));
		this.stores.add(store);
		await().ignoreExceptionsMatching((ex) -> !ex.getMessage().contains("same server")).untilAsserted(() -> {
			OwnerToken token = token();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> {
				acquire(store, token);
				release(store, KEY, token);
			}).withMessageContainingAll("is the same server as ", "which must not vote twice");
		});
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, 0.1 })
	void f13LeaseThatIsOverWhenItIsConfirmedIsReleased(double drift) {
		AtomicReference<Duration> passed = new AtomicReference<>(Duration.ZERO);
		AtomicBoolean sent = new AtomicBoolean();
		// the second look at the clock is the one after the confirmation
		LongSupplier clock = () -> sent.getAndSet(true) ? passed.get().toNanos() : 0;
		RedlockLockStore store = store(Driver.LETTUCE, settings(NODE_TIMEOUT, drift, true), clock);
		sent.set(false);
		passed.set(Duration.ofSeconds(28));
		OwnerToken first = token();
		if (drift == 0) {
			assertThat(acquire(store, first)).as("2s are left of 30s").isInstanceOf(Acquired.class);
			assertThat(release(store, KEY, first)).isEqualTo(new Released());
			passed.set(Duration.ofSeconds(30));
		}
		sent.set(false);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, token()))
			.withMessageContaining("and the lease of 30s was over");
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@Test
	void f15NodesKeepALockLongerThanItsHolderCountsOnIt() {
		// so much that there is time to look at each node
		RedlockLockStore store = store(Driver.LETTUCE, settings(NODE_TIMEOUT, 0.5, true), System::nanoTime);
		OwnerToken token = token();
		acquire(store, token);
		assertThat(servers.having(LOCK)).hasSizeGreaterThanOrEqualTo(3)
			.allMatch((server) -> server.pttl(LOCK) > 30_000 && server.pttl(LOCK) <= 45_000);
		servers.all().forEach((server) -> server.command("PEXPIRE", LOCK, "10000"));
		renew(store, KEY, token);
		assertThat(servers.all().stream().filter((server) -> server.pttl(LOCK) > 30_000))
			.hasSizeGreaterThanOrEqualTo(3);
	}

	@Test
	void f15TokensGrowAlthoughTheClockOfTheNodeThatGaveTheLastOneIsAhead() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		// as a node does whose clock is an hour ahead
		long ahead = fencingToken(acquireAndRelease(store)) + Duration.ofHours(1).toNanos() / 1000;
		servers.server(0).command("SET", FENCE, String.valueOf(ahead), "PX", "600000");
		servers.proxy(3).stall();
		servers.proxy(4).stall();
		long first = fencingToken(acquire(store, token()));
		assertThat(first).as("the largest vote").isGreaterThan(ahead);
		servers.restore(3, 4);
		Nodes.awaitAll(store, servers);
		awaitRequests();
		// a holder that dies releases nothing
		servers.all().forEach((server) -> server.command("DEL", LOCK));
		servers.proxy(0).stall();
		servers.proxy(1).stall();
		long second = fencingToken(acquireAndRelease(store));
		assertThat(second).as("from nodes of which only one took part before").isGreaterThan(first);
	}

	/** Ten minutes after its last write, a node forgets the token. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void f15TokensGrowAfterAHoldThatOutlastsTheStoredTokenAlthoughAClockIsAhead(boolean renewed) {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		long ahead = fencingToken(acquireAndRelease(store)) + Duration.ofHours(1).toNanos() / 1000;
		servers.all().forEach((server) -> server.command("SET", FENCE, String.valueOf(ahead), "PX", "600000"));
		OwnerToken token = token();
		long first = fencingToken(acquire(store, token));
		awaitRequests();
		servers.all().forEach((server) -> server.command("DEL", FENCE));
		if (renewed) {
			assertThat(renew(store, KEY, token)).containsExactly(RenewResult.RENEWED);
			awaitRequests();
			// a holder that dies releases nothing
			servers.all().forEach((server) -> server.command("DEL", LOCK));
		}
		else {
			release(store, KEY, token);
			awaitRequests();
		}
		assertThat(fencingToken(acquire(store, token()))).isGreaterThan(first);
	}

	@Test
	void h27TokenThatNoMajorityKnowsIsNotUsed() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		servers.cutOff(3, 4);
		servers.proxy(0).hold(Direction.TO_CLIENT);
		CompletableFuture<AcquireResult> answer = CompletableFuture.supplyAsync(() -> acquire(store, token()));
		await().until(() -> servers.server(0).exists(LOCK));
		// node 0 has voted, and cannot confirm it
		servers.server(0).command("DEL", LOCK);
		servers.restore(0);
		assertThat(answer).failsWithin(COMMAND_TIMEOUT.multipliedBy(2))
			.withThrowableThat()
			.withMessageContaining("3 of 5 nodes voted and 2 confirmed it, 3 needed");
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@Test
	void renewalSaysNoOnlyIfAMajorityDoes() {
		RedlockLockStore store = store(Driver.LETTUCE, BRIEF_TIMEOUT);
		OwnerToken token = token();
		acquire(store, token);
		await().until(() -> servers.having(LOCK).size() == 5);
		String other = token() + ":1";
		servers.server(0).command("SET", LOCK, other, "PX", "30000");
		servers.server(1).command("SET", LOCK, other, "PX", "30000");
		assertThat(renew(store, KEY, token)).containsExactly(RenewResult.RENEWED);
		servers.proxy(2).stall();
		assertThat(renew(store, KEY, token)).as("two say no, two say yes").containsExactly(RenewResult.UNKNOWN);
		servers.proxy(2).restore();
		servers.server(2).flushAll();
		await().ignoreExceptions()
			.untilAsserted(() -> assertThat(renew(store, KEY, token)).containsExactly(RenewResult.NOT_OWNER));
	}

	@Test
	void renewedLockOutlivesThatAllNodesForgetItOneAfterTheOther() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		OwnerToken token = token();
		acquire(store, token);
		for (RedisServer server : servers.all()) {
			await().until(() -> servers.having(LOCK).size() == 5);
			server.flushAll();
			// a renewal is decided by the first three, which may not ask the one
			await().until(() -> {
				assertThat(renew(store, KEY, token)).containsExactly(RenewResult.RENEWED);
				return server.exists(LOCK);
			});
		}
		release(store, KEY, token);
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@Test
	void voteThatIsWonBackWhenTheOwnershipHasEndedIsNotKept() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		OwnerToken token = token();
		acquire(store, token);
		await().until(() -> servers.having(LOCK).size() == 5);
		servers.server(0).flushAll();
		servers.server(0).command("CONFIG", "RESETSTAT");
		// a majority that answers before a node was asked spares it the request
		servers.delay(Duration.ofMillis(100));
		servers.delay(Duration.ofMillis(200), 0);
		assertThat(renew(store, KEY, token)).containsExactly(RenewResult.RENEWED);
		release(store, KEY, token);
		await().until(() -> servers.server(0).calls("evalsha") >= 2);
		servers.restore();
		Nodes.awaitAll(store, servers);
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@Test
	void leaseLongerThanTheLongestOneInUseIsRefusedUnlessNodesForgetNothing() {
		Duration longer = Duration.ofMinutes(6);
		RedlockLockStore store = RedlockLockStore.create(Driver.LETTUCE.redlockNodes(servers.proxyPorts()),
				settings(NODE_TIMEOUT, 0, false));
		this.stores.add(store);
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(
				() -> new JoinedStore(store).acquire(new AcquireRequest(KEY, token(), longer, false), COMMAND_TIMEOUT))
			.withMessageContainingAll("6m is longer", "distributed-lock.redlock.max-ttl");
		RedlockLockStore durable = store(Driver.LETTUCE, NODE_TIMEOUT);
		assertThat(new JoinedStore(durable).acquire(new AcquireRequest(KEY, token(), longer, false), COMMAND_TIMEOUT))
			.isInstanceOf(Acquired.class);
	}

	@Test
	void votesThatContendersHaveSplitAreReleasedAndRequestedAgain() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		servers.server(0).command("CONFIG", "RESETSTAT");
		for (int node = 0; node < 3; node++) {
			servers.server(node).command("SET", LOCK, token() + ":1", "PX", "30000");
		}
		OwnerToken token = token();
		assertThat(acquire(store, token)).isInstanceOf(Busy.class);
		assertThat(servers.server(0).calls("pttl")).as("votes for a contender, requested again").isGreaterThan(1);
		// a vote that came after the outcome is taken back in the background
		await().untilAsserted(
				() -> assertThat(servers.having(LOCK)).containsExactlyElementsOf(servers.all().subList(0, 3)));
		servers.server(1).command("DEL", LOCK);
		assertThat(acquire(store, token)).isInstanceOf(Acquired.class);
		release(store, KEY, token);
		// a request of the acquisition may still be on its way to a node that was not
		// needed
		awaitRequests();
		servers.server(0).command("CONFIG", "RESETSTAT");
		for (int node = 0; node < 3; node++) {
			servers.server(node).command("SET", LOCK, token + ".kept", "PX", "30000");
		}
		assertThat(acquire(store, token())).isInstanceOf(Busy.class);
		assertThat(servers.server(0).calls("pttl")).as("votes for another, who has a majority: no split").isEqualTo(1);
		await().until(() -> servers.having(LOCK).size() == 3);
	}

	@Test
	void releaseWhileVotesAreUnderWayLeavesNothingBehind() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		OwnerToken token = token();
		for (int node = 0; node < 3; node++) {
			servers.proxy(node).hold(Direction.TO_CLIENT);
		}
		CompletionStage<AcquireResult> result = store.acquire(new AcquireRequest(KEY, token, TTL, false),
				COMMAND_TIMEOUT);
		await().until(() -> servers.having(LOCK).size() == 5);
		CompletionStage<ReleaseResult> release = store.release(new ReleaseRequest(KEY, token), COMMAND_TIMEOUT);
		await().until(() -> servers.having(LOCK).size() <= 3);
		servers.restore(0, 1, 2);
		assertThat(result).failsWithin(COMMAND_TIMEOUT)
			.withThrowableThat()
			.withMessageContaining("confirmed it, 3 needed");
		assertThat(release).succeedsWithin(COMMAND_TIMEOUT).isEqualTo(new Released());
		await().until(() -> servers.having(LOCK).isEmpty());
	}

	@ParameterizedTest
	@EnumSource
	void deadNodeDelaysNoCallerAndItsRequestsDoNotPileUp(Driver driver) throws Exception {
		RedlockLockStore store = store(driver, BRIEF_TIMEOUT);
		servers.proxy(0).stall();
		ExecutorService executor = Executors.newFixedThreadPool(8);
		try {
			Callable<Void> caller = () -> {
				String key = Thread.currentThread().getName();
				for (int i = 0; i < 30; i++) {
					OwnerToken token = token();
					assertThat(StoreFixture.isAcquired(store, key, token)).isTrue();
					release(store, key, token);
				}
				return null;
			};
			long start = System.nanoTime();
			for (Future<Void> future : executor.invokeAll(Collections.nCopies(8, caller))) {
				future.get();
			}
			// one wait for the dead node in each of a thread's rounds would be 60 s
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(BRIEF_TIMEOUT.multipliedBy(30));
			assertThat(Thread.getAllStackTraces().keySet())
				.filteredOn((thread) -> thread.getName().startsWith("lock-redlock-" + name(0) + "-"))
				.hasSizeLessThanOrEqualTo(RedlockNodeClient.THREADS);
		}
		finally {
			executor.shutdownNow();
		}
		servers.proxy(0).restore();
		Nodes.awaitAll(store, servers);
	}

	@Test
	@Tag("redlock-cost")
	void acquisitionIsTwoRoundsAndReleaseOneAllNodesAtOnce() {
		RedlockLockStore store = store(Driver.LETTUCE, NODE_TIMEOUT);
		awaitRequests();
		// a majority that answers before a node was asked spares it the request
		Duration oneWay = Duration.ofMillis(400);
		servers.delay(oneWay);
		servers.all().forEach((server) -> server.command("CONFIG", "RESETSTAT"));
		OwnerToken token = token();
		acquire(store, token);
		assertThat(servers.server(0).calls("info")).as("a durable server is not queried for its identity").isZero();
		for (RedisServer server : servers.all()) {
			await().until(() -> server.calls("evalsha") == 2);
		}
		release(store, KEY, token);
		for (RedisServer server : servers.all()) {
			await().until(() -> server.calls("evalsha") == 3);
		}
		long start = System.nanoTime();
		assertThat(acquire(store, token())).isInstanceOf(Acquired.class);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(oneWay.multipliedBy(4),
				oneWay.multipliedBy(12));
	}

	/**
	 * With connections to all nodes.
	 */
	private RedlockLockStore store(Driver driver, Duration nodeTimeout) {
		return store(driver, settings(nodeTimeout, 0, true), System::nanoTime);
	}

	private RedlockLockStore store(Driver driver, RedlockSettings settings, LongSupplier clock) {
		List<RedlockNodeClient> clients = clients(driver);
		RedlockLockStore store = new RedlockLockStore(clients, settings, clock);
		this.clients.addAll(clients);
		this.stores.add(store);
		Nodes.awaitAll(store, servers);
		return store;
	}

	private static RedlockSettings settings(Duration nodeTimeout, double drift, boolean durable) {
		return new RedlockSettings("lock:", COMMAND_TIMEOUT, StoreOptions.DEFAULT_CONNECT_TIMEOUT, nodeTimeout, drift,
				Duration.ofMinutes(5), durable);
	}

	private static List<RedlockNodeClient> clients(Driver driver) {
		return driver.redlockNodes(servers.proxyPorts())
			.stream()
			.map((node) -> DerivedConnections.create(node, null, COMMAND_TIMEOUT, COMMAND_TIMEOUT))
			.map((node) -> new RedlockNodeClient(node.endpoint().name().orElseThrow(), node))
			.toList();
	}

	/**
	 * Waits until each request for the key that was sent to a node has been carried out:
	 * a node carries them out in order.
	 */
	private void awaitRequests() {
		List<String> keys = new RedisKeys("lock:").lockAndFencingToken(KEY);
		for (RedlockNodeClient client : this.clients) {
			client.execute(RedlockScripts.INSPECT, keys, new Object[0], COMMAND_TIMEOUT).join();
		}
	}

	private static String name(int node) {
		return "127.0.0.1:" + servers.proxy(node).port();
	}

	private static AcquireResult acquire(RedlockLockStore store, OwnerToken token) {
		return acquire(store, KEY, token);
	}

	private static AcquireResult acquire(RedlockLockStore store, String key, OwnerToken token) {
		return StoreFixture.acquire(store, key, token, false, COMMAND_TIMEOUT);
	}

	private static AcquireResult acquireAndRelease(RedlockLockStore store) {
		OwnerToken token = token();
		AcquireResult answer = acquire(store, token);
		release(store, KEY, token);
		return answer;
	}

	private static long fencingToken(AcquireResult answer) {
		return ((Acquired) answer).fencingToken();
	}

}
