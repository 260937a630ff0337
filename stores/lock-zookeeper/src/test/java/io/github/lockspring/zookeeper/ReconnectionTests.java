package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.internal.queue.EntryServer.Renewal;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.ZooKeeper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Requests without an answer, sessions and their proofs, behind a network that fails.
 */
class ReconnectionTests {

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	private static final Duration SESSION = Duration.ofMinutes(2);

	private final String key = "reconnected-" + UUID.randomUUID();

	private final OwnerToken token = new OwnerToken("zk-reconnection-000001", 1, 5000);

	private final ZooKeeperTestServer zooKeeper = ZooKeeperTestServer.shared();

	private final TcpProxy proxy = new TcpProxy(this.zooKeeper.port());

	private final AtomicLong suspended = new AtomicLong();

	private final CuratorFramework client = client(SESSION);

	private final ZooKeeperEntryServer server = server(this.client, SESSION);

	/** Without the proxy. */
	private final ZooKeeperEntryServer observer = server(this.zooKeeper.client(SESSION), SESSION);

	/** So that a node can be created by one request. */
	@BeforeEach
	void createRoot() throws Exception {
		get(this.observer.add(this.key + " other", this.token, 60_000, false));
	}

	private CuratorFramework client(Duration session) {
		return CuratorFrameworkFactory.builder()
			.connectString("127.0.0.1:" + this.proxy.port())
			.sessionTimeoutMs((int) session.toMillis())
			.connectionTimeoutMs(20_000)
			.retryPolicy(new RetryOneTime(100))
			.zookeeperFactory(
					(servers, timeout, watcher, canBeReadOnly) -> new LaggingHandle(servers, timeout, watcher))
			.build();
	}

	private ZooKeeperEntryServer server(CuratorFramework client, Duration session) {
		return new ZooKeeperEntryServer(client, ZooKeeperTestServer.settings(session), true, this::now);
	}

	private long now() {
		return MonotonicClock.SYSTEM.getAsLong() + this.suspended.get();
	}

	@AfterEach
	void close() {
		this.server.close();
		this.observer.close();
		this.proxy.close();
	}

	private static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
	}

	private Added add(boolean repeated) throws Exception {
		return get(this.server.add(this.key, this.token, 60_000, repeated));
	}

	private LaggingHandle handle() {
		return (LaggingHandle) ZooKeeperTestServer.get(this.client.getZookeeperClient()::getZooKeeper);
	}

	private List<? extends Entry> nodes() throws Exception {
		return get(this.observer.list(this.key));
	}

	/** The server executes the addition, and its answer is lost. */
	private void addWithoutAnswer() throws Exception {
		get(this.server.connected());
		get(this.server.ping());
		this.proxy.hold(Direction.TO_CLIENT);
		CompletableFuture<Added> added = this.server.add(this.key, this.token, 60_000, false).toCompletableFuture();
		await().atMost(TIMEOUT).until(() -> nodes().size() == 1);
		this.proxy.cut(Cut.RST);
		assertThat(added).failsWithin(TIMEOUT)
			.withThrowableThat()
			.havingCause()
			.isInstanceOf(LockUnavailableException.class);
		this.proxy.restore();
		await().atMost(TIMEOUT).until(this.client.getZookeeperClient()::isConnected);
	}

	/** Z2: the node would be overlooked, and be before the next one of its own token. */
	@Test
	void unansweredAdditionIsFoundAlthoughTheNextServerIsBehind() throws Exception {
		addWithoutAnswer();
		handle().lag(List.of());
		Added added = add(true);
		assertThat(added.position()).isNotNull();
		assertThat(added.position().before()).isNull();
		assertThat(nodes()).extracting(Entry::id).containsExactly(added.entry().id());
	}

	/** Z2: the same for a token that was given up. */
	@Test
	void unansweredAdditionIsSettledAlthoughTheNextServerIsBehind() throws Exception {
		addWithoutAnswer();
		handle().lag(List.of());
		Entry.Own found = get(this.server.settle(this.key, this.token));
		assertThat(found).isNotNull();
		assertThat(get(this.server.remove(found))).isTrue();
		assertThat(get(this.server.settle(this.key, this.token))).isNull();
		assertThat(nodes()).isEmpty();
	}

	/** Z1, 7: once for each reconnection is enough. */
	@Test
	void firstReadAfterAReconnectionIsSynchronized() throws Exception {
		add(false);
		int before = handle().syncs();
		get(this.server.first(this.key));
		assertThat(handle().syncs()).isEqualTo(before);
		this.proxy.hold(Direction.TO_SERVER);
		CompletionStage<Void> ping = this.server.ping();
		this.proxy.cut(Cut.RST);
		assertThat(ping).failsWithin(TIMEOUT);
		this.proxy.restore();
		await().atMost(TIMEOUT).until(this.client.getZookeeperClient()::isConnected);
		handle().lag(List.of());
		await().ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> assertThat(get(this.server.first(this.key))).isPresent());
		int synced = handle().syncs();
		assertThat(synced).isGreaterThan(before);
		get(this.server.first(this.key));
		get(this.server.first(this.key));
		assertThat(handle().syncs()).isEqualTo(synced);
	}

	/** Z3: its session may end at any time. */
	@Test
	void nodeOfAnotherSessionIsNotAdopted() throws Exception {
		try (ZooKeeperEntryServer earlier = server(client(SESSION), SESSION)) {
			Added left = get(earlier.add(this.key, this.token, 60_000, false));
			assertThat(get(this.server.settle(this.key, this.token))).isNull();
			Added added = add(true);
			assertThat(added.position()).isNotNull();
			assertThat(added.position().before()).isNotNull().extracting(Entry::id).isEqualTo(left.entry().id());
		}
	}

	/** Z3: what was a node of this process before. */
	@Test
	void nodeOfASessionThatHasEndedIsOver() throws Exception {
		Added added = add(false);
		ZooKeeper ended = handle();
		this.zooKeeper.expire(ended);
		await().atMost(TIMEOUT).until(added.entry()::isOver);
		assertThat(get(this.server.position(added.entry()))).isEmpty();
		assertThat(get(this.server.remove(added.entry()))).isFalse();
		await().atMost(TIMEOUT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> assertThat(get(this.server.renew(List.of(new Renewal(added.entry(), 1))))).isEmpty());
		assertThat(add(true).entry().order()).isGreaterThan(added.entry().order());
	}

	/** Z1, 2, 7: the removal was executed, and the next server shows the node. */
	@Test
	@Tag("lost-reply")
	void tokenNeverOwnsThroughANodeThatIsBeingRemoved() throws Exception {
		AcquireRequest request = new AcquireRequest(this.key, this.token, SESSION, true);
		CuratorFramework own = client(SESSION);
		try (ZooKeeperLockStore store = ZooKeeperLockStore.create(own, ZooKeeperTestServer.settings(SESSION), true,
				this::now)) {
			JoinedStore joined = new JoinedStore(store);
			Acquired first = (Acquired) joined.acquire(request, TIMEOUT);
			String path = nodes().get(0).id();
			this.proxy.hold(Direction.TO_CLIENT);
			CompletionStage<?> release = store.release(new ReleaseRequest(this.key, this.token), TIMEOUT);
			await().atMost(TIMEOUT).until(() -> nodes().isEmpty());
			this.proxy.cut(Cut.RST);
			assertThat(release).failsWithin(TIMEOUT);
			this.proxy.restore();
			await().atMost(TIMEOUT).until(own.getZookeeperClient()::isConnected);
			((LaggingHandle) own.getZookeeperClient().getZooKeeper())
				.lag(List.of(path.substring(path.lastIndexOf('/') + 1)));
			Acquired second = (Acquired) joined.acquire(request, TIMEOUT);
			assertThat(second.fencingToken()).isGreaterThan(first.fencingToken());
			assertThat(joined.renew(List.of(new RenewRequest(this.key, this.token, Duration.ofSeconds(1))), TIMEOUT))
				.containsExactly(RenewResult.RENEWED);
			assertThat(nodes()).hasSize(1);
		}
	}

	/** Z6, 1: an answer that comes late proves no more than one that comes early. */
	@Test
	void proofCountsFromItsSending() throws Exception {
		get(this.server.connected());
		get(this.server.ping());
		this.proxy.hold(Direction.TO_CLIENT);
		long sent = now();
		CompletionStage<Added> added = this.server.add(this.key, this.token, 60_000, false);
		await().atMost(TIMEOUT).until(() -> nodes().size() == 1);
		this.suspended.addAndGet(SESSION.toNanos() / 6);
		this.proxy.restore();
		Entry.Own entry = get(added).entry();
		assertThat(entry.validUntil() - sent).isGreaterThanOrEqualTo(SESSION.toNanos() / 6);
		assertThat(entry.validUntil() - now()).isNegative();
	}

	/** Z7: the first write proves a sixth, and the timer writes at each twelfth. */
	@Test
	@Tag("zookeeper-proofs")
	void sessionThatIsInUseIsAlwaysProvenForAThird() throws Exception {
		Duration session = Duration.ofSeconds(6);
		try (ZooKeeperEntryServer brief = server(client(session), session)) {
			Entry.Own entry = get(brief.add(this.key, this.token, 60_000, false)).entry();
			assertThat(brief.lease(session)).isLessThan(session.dividedBy(6));
			await().atMost(TIMEOUT).until(() -> entry.validUntil() - now() >= session.toNanos() / 3);
			long begin = now();
			while (now() - begin < session.toNanos()) {
				// a third without the time for which a busy machine is late
				assertThat(entry.validUntil() - now()).isGreaterThan(session.toNanos() / 6);
				Thread.sleep(10);
			}
			assertThat(brief.lease(session)).isGreaterThan(session.dividedBy(4));
		}
	}

	/** 8: tokens after a restore. */
	@Test
	@Tag("zookeeper-token-floor")
	void floorIsAddedToTheNumbersOfNodes() throws Exception {
		long floor = 1L << 40;
		long plain = add(false).entry().order();
		get(this.server.settle(this.key, this.token));
		ZooKeeperStoreSettings settings = new ZooKeeperStoreSettings("lock:", SESSION, TIMEOUT, null, false, floor);
		try (ZooKeeperEntryServer other = new ZooKeeperEntryServer(this.zooKeeper.client(SESSION), settings, true,
				this::now)) {
			Added waiter = get(other.add(this.key, new OwnerToken("zk-reconnection-000002", 1, 5000), 60_000, false));
			assertThat(waiter.entry().order()).isGreaterThan(floor + plain);
			assertThat(get(other.first(this.key)).orElseThrow().order()).isEqualTo(floor + plain);
			assertThat(get(other.settle(this.key, new OwnerToken("zk-reconnection-000002", 1, 5000)))).isNotNull()
				.extracting(Entry.Own::order)
				.isEqualTo(waiter.entry().order());
		}
	}

}
