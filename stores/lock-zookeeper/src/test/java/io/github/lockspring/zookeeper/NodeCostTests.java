package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.queue.Entry;
import io.github.lockspring.internal.queue.EntryServer.Added;
import io.github.lockspring.store.OwnerToken;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What locks cost a server, which has no other clients: transactions, containers and
 * watches.
 */
class NodeCostTests {

	private static final Duration TIMEOUT = Duration.ofMinutes(1);

	/** The store proves nothing by itself during a test. */
	private static final Duration SESSION = Duration.ofMinutes(6);

	private final ZooKeeperTestServer zooKeeper = ZooKeeperTestServer.start();

	private final AtomicInteger tokens = new AtomicInteger();

	private final ZooKeeperEntryServer server = server();

	private ZooKeeperEntryServer server() {
		return new ZooKeeperEntryServer(this.zooKeeper.client(SESSION), ZooKeeperTestServer.settings(SESSION), true,
				MonotonicClock.SYSTEM);
	}

	@AfterEach
	void close() {
		this.server.close();
		this.zooKeeper.close();
	}

	private static <T> T get(CompletionStage<T> stage) throws Exception {
		return stage.toCompletableFuture().get(TIMEOUT.toSeconds(), TimeUnit.SECONDS);
	}

	private CompletionStage<Added> add(ZooKeeperEntryServer to, String key) {
		return to.add(key, new OwnerToken("zk-cost-tests-00000001", this.tokens.incrementAndGet(), 5000), 60_000,
				false);
	}

	private Entry.Own add(String key) throws Exception {
		return get(add(this.server, key)).entry();
	}

	private long transactionsOfAHold(String key) throws Exception {
		long before = this.zooKeeper.transactions();
		assertThat(get(this.server.remove(add(key)))).isTrue();
		return this.zooKeeper.transactions() - before;
	}

	/** 33: it cost five to six. */
	@Test
	@Tag("zookeeper-requests")
	void keyThatIsUsedOnceCostsTwoTransactionsAndLeavesNothing() throws Exception {
		add("other");
		for (int i = 0; i < 50; i++) {
			assertThat(transactionsOfAHold("new " + i)).isEqualTo(2);
		}
		assertThat(this.zooKeeper.locks()).containsExactly("other");
	}

	@Test
	@Tag("zookeeper-requests")
	void keyThatIsUsedAgainCostsNoMoreAndKeepsItsContainer() throws Exception {
		add("other");
		assertThat(transactionsOfAHold("again")).isEqualTo(2);
		long before = this.zooKeeper.transactions();
		Entry.Own second = add("again");
		assertThat(this.zooKeeper.transactions() - before).isEqualTo(1);
		for (int i = 0; i < 5; i++) {
			assertThat(transactionsOfAHold("again")).isEqualTo(2);
		}
		assertThat(get(this.server.remove(second))).isTrue();
	}

	@Test
	void containerWithOthersIsKeptForThem() throws Exception {
		Entry.Own first = add("contended");
		ZooKeeperEntryServer other = server();
		try (other) {
			Added second = get(add(other, "contended"));
			assertThat(second.position()).isNotNull();
			assertThat(second.position().before().id()).isEqualTo(first.id());
			assertThat(get(this.server.remove(first))).isTrue();
			assertThat(get(this.server.remove(first))).isFalse();
			assertThat(get(other.position(second.entry())).orElseThrow().before()).isNull();
		}
	}

	/** Z7: proofs are writes. */
	@Test
	void storeThatIsNotUsedWritesNothing() throws Exception {
		Duration session = Duration.ofSeconds(2);
		add("other");
		AtomicLong passed = new AtomicLong();
		try (ZooKeeperEntryServer brief = new ZooKeeperEntryServer(this.zooKeeper.client(session),
				ZooKeeperTestServer.settings(session), true, () -> MonotonicClock.SYSTEM.getAsLong() + passed.get())) {
			Entry.Own entry = get(add(brief, "idle")).entry();
			get(brief.remove(entry));
			long before = this.zooKeeper.transactions();
			await().atMost(TIMEOUT).until(() -> this.zooKeeper.transactions() > before + 1);
			passed.set(Duration.ofMinutes(10).toNanos());
			await().pollDelay(session.dividedBy(4)).until(() -> true);
			long idle = this.zooKeeper.transactions();
			await().pollDelay(session).untilAsserted(() -> assertThat(this.zooKeeper.transactions()).isEqualTo(idle));
			get(add(brief, "idle"));
			await().atMost(TIMEOUT).until(() -> this.zooKeeper.transactions() > idle + 3);
		}
	}

	/** Containers are created and deleted under each other's hands. */
	@Test
	void manyInstancesMayUseNewKeysAtTheSameTime() throws Exception {
		List<ZooKeeperEntryServer> servers = List.of(server(), server(), server());
		try {
			for (int i = 0; i < 150; i++) {
				String key = "shared " + i;
				List<CompletionStage<Boolean>> removed = new ArrayList<>();
				for (ZooKeeperEntryServer each : servers) {
					removed.add(add(each, key).thenCompose((added) -> each.remove(added.entry())));
				}
				for (CompletionStage<Boolean> each : removed) {
					assertThat(get(each)).isTrue();
				}
			}
		}
		finally {
			servers.forEach(ZooKeeperEntryServer::close);
		}
		await().atMost(TIMEOUT).until(() -> this.zooKeeper.locks().isEmpty());
	}

	/** 35: only the client had forgotten it. */
	@Test
	void watchOfAWaiterThatLeavesEndsOnTheServer() throws Exception {
		Entry.Own owner = add("watched");
		long others = this.zooKeeper.watches();
		for (int i = 0; i < 5; i++) {
			Entry.Own waiter = add("watched");
			assertThat(get(this.server.watch(owner, waiter, () -> {
			}))).isTrue();
			assertThat(this.zooKeeper.watches()).isEqualTo(others + 1);
			get(this.server.remove(waiter));
			assertThat(this.zooKeeper.watches()).isEqualTo(others);
		}
	}

	/** 35: a watch for a node that is gone already would wait for its creation. */
	@Test
	void watchOfANodeThatIsGoneIsNone() throws Exception {
		Entry.Own owner = add("gone");
		long others = this.zooKeeper.watches();
		Entry.Own waiter = add("gone");
		get(this.server.remove(owner));
		assertThat(get(this.server.watch(owner, waiter, () -> {
		}))).isFalse();
		assertThat(this.zooKeeper.watches()).isEqualTo(others);
	}

	@Test
	void watchEndsWhenTheWaiterWasTakenAway() throws Exception {
		Entry.Own owner = add("taken");
		long others = this.zooKeeper.watches();
		Entry.Own waiter = add("taken");
		assertThat(get(this.server.watch(owner, waiter, () -> {
		}))).isTrue();
		assertThat(get(this.server.take(waiter))).isTrue();
		assertThat(get(this.server.position(waiter))).isEmpty();
		get(this.server.ping());
		assertThat(this.zooKeeper.watches()).isEqualTo(others);
	}

	/** 34: each position listed the queue. */
	@Test
	void waiterIsToldWhoIsBeforeWithoutAList() throws Exception {
		Entry.Own owner = add("queue");
		Entry.Own before = add("queue");
		Added waiter = get(add(this.server, "queue"));
		CountDownLatch gone = new CountDownLatch(1);
		assertThat(get(this.server.watch(before, waiter.entry(), gone::countDown))).isTrue();
		for (int i = 0; i < 3; i++) {
			assertThat(get(this.server.position(waiter.entry())).orElseThrow()).satisfies((position) -> {
				assertThat(position.before()).isNotNull().extracting(Entry::id).isEqualTo(before.id());
				assertThat(position.first().order()).isEqualTo(owner.order());
			});
		}
		get(this.server.remove(owner));
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().first().order()).isEqualTo(before.order());
		get(this.server.keep(before, 5000));
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().first().kept()).isTrue();
		get(this.server.remove(before));
		assertThat(gone.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(get(this.server.position(waiter.entry())).orElseThrow().before()).isNull();
		CompletableFuture<?> ended = this.server.take(waiter.entry()).toCompletableFuture();
		get(ended);
		assertThat(get(this.server.position(waiter.entry()))).isEmpty();
	}

	/** Two reads and then a list made a hand-over slower. */
	@Test
	@Tag("zookeeper-requests")
	void waiterWhosePredecessorIsGoneSendsOneRequest() throws Exception {
		List<Long> requests = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			Entry.Own owner = add("handed over");
			Entry.Own waiter = add("handed over");
			CountDownLatch gone = new CountDownLatch(1);
			assertThat(get(this.server.watch(owner, waiter, gone::countDown))).isTrue();
			get(this.server.remove(owner));
			assertThat(gone.await(TIMEOUT.toSeconds(), TimeUnit.SECONDS)).isTrue();
			long before = this.zooKeeper.requests();
			assertThat(get(this.server.position(waiter)).orElseThrow().before()).isNull();
			// the question counts, too
			requests.add(this.zooKeeper.requests() - before - 1);
			get(this.server.remove(waiter));
		}
		// a ping may come between, but not each time
		assertThat(requests).contains(1L);
	}

}
