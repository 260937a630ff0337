package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.store.OwnerToken;
import org.apache.curator.framework.CuratorFramework;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.DataWatches;
import org.apache.zookeeper.ZooDefs.Ids;
import org.apache.zookeeper.ZooDefs.Perms;
import org.apache.zookeeper.data.ACL;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The nodes of locks, on a real server.
 */
class ZooKeeperEntryServerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private final String key = "nodes-" + UUID.randomUUID();

	private final CuratorFramework client = ZooKeeperTestServer.shared().client(TIMEOUT);

	private final ZooKeeperEntryServer server = new ZooKeeperEntryServer(this.client,
			ZooKeeperTestServer.settings(TIMEOUT), true, MonotonicClock.SYSTEM);

	@AfterEach
	void close() {
		this.server.close();
	}

	private static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
	}

	private Added add(int sequence) throws Exception {
		OwnerToken token = new OwnerToken("zk-server-tests-000001", sequence, 5000);
		return get(this.server.add(this.key, token, 60_000, false));
	}

	@Test
	void sessionIsKnownWhenTheStoreIsConnected() throws Exception {
		Duration asked = Duration.ofHours(1);
		try (ZooKeeperEntryServer other = new ZooKeeperEntryServer(ZooKeeperTestServer.shared().client(TIMEOUT),
				ZooKeeperTestServer.settings(asked), true, MonotonicClock.SYSTEM)) {
			assertThat(other.traits().shortestTtl()).isEqualTo(asked);
			get(other.connected());
			assertThat(other.traits().shortestTtl()).isEqualTo(TIMEOUT);
		}
	}

	@Test
	void serverThatCannotBeReachedIsAwaitedNoLongerThanTheConnectTimeout() {
		Duration brief = Duration.ofMillis(300);
		ZooKeeperStoreSettings settings = new ZooKeeperStoreSettings("lock:", TIMEOUT, brief, null, false, 0);
		try (ZooKeeperEntryServer nowhere = new ZooKeeperEntryServer(ZooKeeperTestServer.client("127.0.0.1:1", TIMEOUT),
				settings, true, MonotonicClock.SYSTEM)) {
			CompletionStage<?> connected = nowhere.connected();
			assertThat(connected).isNotDone();
			assertThat(connected).succeedsWithin(TIMEOUT);
			assertThat(nowhere.connected()).isDone();
			assertThat(nowhere.list(this.key)).failsWithin(TIMEOUT)
				.withThrowableOfType(ExecutionException.class)
				.withCauseInstanceOf(LockUnavailableException.class);
		}
	}

	@Test
	@Tag("formats")
	void nodeOfAnotherFormatIsWaitedFor() throws Exception {
		get(this.server.connected());
		String other = this.client.create()
			.creatingParentContainersIfNeeded()
			.withMode(CreateMode.EPHEMERAL_SEQUENTIAL)
			.forPath(new LockPaths("/lock").lock(this.key) + "/2|other");
		Added waiter = add(1);
		assertThat(waiter.position().before()).isNotNull();
		this.client.delete().forPath(other);
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().before()).isNull();
		get(this.server.remove(waiter.entry()));
	}

	/** The failure is permanent, so nobody would settle the addition. */
	@Test
	void nodeWhoseQueueMayNotBeReadIsRemoved() throws Exception {
		get(this.server.connected());
		String lock = new LockPaths("/lock").lock(this.key);
		this.client.create()
			.creatingParentContainersIfNeeded()
			.withACL(List.of(new ACL(Perms.CREATE | Perms.DELETE | Perms.ADMIN, Ids.ANYONE_ID_UNSAFE)), false)
			.forPath(lock);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> add(1))
			.havingCause()
			.isInstanceOfSatisfying(LockUnavailableException.class, (ex) -> assertThat(ex.isPermanent()).isTrue());
		this.client.setACL().withACL(Ids.OPEN_ACL_UNSAFE).forPath(lock);
		assertThat(this.client.getChildren().forPath(lock)).isEmpty();
		assertThat(this.client.checkExists().forPath(lock).getCversion()).as("added, and removed").isEqualTo(2);
		this.client.delete().forPath(lock);
	}

	/** Many short waits behind a long hold would gather them. */
	@Test
	void watchEndsWithTheNodeThatWaits() throws Exception {
		get(this.server.connected());
		Added owner = add(1);
		AtomicInteger inVain = new AtomicInteger();
		for (int i = 2; i < 7; i++) {
			Added waiter = add(i);
			assertThat(get(this.server.watch(owner.entry(), waiter.entry(), inVain::incrementAndGet))).isTrue();
			get(this.server.remove(waiter.entry()));
			await().atMost(TIMEOUT)
				.untilAsserted(() -> assertThat(DataWatches.of(this.client.getZookeeperClient().getZooKeeper()))
					.noneMatch((path) -> path.contains(this.key)));
		}
		CountDownLatch gone = new CountDownLatch(1);
		Added last = add(7);
		assertThat(get(this.server.watch(owner.entry(), last.entry(), gone::countDown))).isTrue();
		get(this.server.keep(owner.entry(), 50_000));
		get(this.server.remove(owner.entry()));
		assertThat(gone.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(inVain).hasValue(0);
		get(this.server.remove(last.entry()));
	}

	/**
	 * The server counts with an int, and what comes after the last number is not in
	 * order.
	 */
	@Test
	@Tag("zookeeper-numbers")
	void nodesAreNotAddedWhenTheirNumbersAreUsedUp() {
		assertThat(List.of("token-0000000000", "token-1999999999", "token-2000000000")).noneMatch(LockPaths::isTooLate);
		assertThat(List.of("token-2000000001", "token-2147483647", "token--2147483648", "token--1999999999",
				"token--000000001"))
			.allMatch(LockPaths::isTooLate);
		assertThat(LockPaths.sorted("/lock", List.of("b-0000000002", "a0000000010", "c--1999999999", "other")))
			.extracting(Node::id)
			.containsExactly("/lock/b-0000000002", "/lock/a0000000010");
	}

}
