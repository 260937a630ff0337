package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Nodes of Redlock that come back without what they knew: three real servers.
 */
class RedlockRestartTests {

	private static final Duration TTL = Duration.ofSeconds(6);

	private static final String LOCK = "lock:report";

	private static RedlockServers servers;

	private final List<RedlockLockStore> stores = new ArrayList<>();

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(3);
	}

	@AfterAll
	static void stop() {
		servers.close();
	}

	@AfterEach
	void close() {
		servers.heal();
		this.stores.forEach(RedlockLockStore::close);
	}

	@Test
	void f14NodeThatWasRestartedEmptyDoesNotVoteForASecondHolder() {
		RedlockLockStore holder = store(Driver.LETTUCE.redlockNodes(servers.proxyPorts()), false);
		RedlockLockStore other = store(Driver.LETTUCE.redlockNodes(servers.ports()), false);
		awaitAllNodes(holder);
		awaitAllNodes(other);
		holdOnNodesZeroAndOne(holder);
		servers.server(1).restart();
		long restarted = System.nanoTime();
		AcquireResult answer = acquire(other, token());
		assertThat(Duration.ofNanos(System.nanoTime() - restarted)).as("what the machine took").isLessThan(TTL);
		assertThat(answer).isInstanceOf(Busy.class);
		// in the background if it came after the outcome, and long before it would end
		await("the vote of node 2 is released").pollDelay(Duration.ZERO)
			.atMost(TTL.dividedBy(2))
			.untilAsserted(() -> assertThat(servers.having(LOCK)).containsExactly(servers.server(0)));
		servers.server(2).restart();
		assertThatTwoWereRestarted(other);
	}

	private static void assertThatTwoWereRestarted(RedlockLockStore store) {
		await().ignoreExceptionsMatching((ex) -> !(ex instanceof AssertionError))
			.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store, token()))
				.withMessageMatching("1 of 3 nodes can vote, 2 needed: (127.0.0.1:\\d+: another owner has the lock; )?"
						+ "127.0.0.1:\\d+: restarted \\ds ago and has no vote for another \\ds; "
						+ "127.0.0.1:\\d+: restarted \\ds ago and has no vote for another \\ds"));
	}

	@Test
	void f14NodeThatIsSaidToForgetNothingVotesAtOnce() {
		RedlockLockStore holder = store(Driver.LETTUCE.redlockNodes(servers.proxyPorts()), true);
		RedlockLockStore other = store(Driver.LETTUCE.redlockNodes(servers.ports()), true);
		awaitAllNodes(holder);
		awaitAllNodes(other);
		holdOnNodesZeroAndOne(holder);
		servers.server(1).restart();
		await("a second holder, since it was a lie").ignoreExceptions()
			.until(() -> acquire(other, token()) instanceof Acquired);
		assertThat(servers.server(0).pttl(LOCK)).as("the first one's").isPositive();
	}

	@Test
	void f14NaiveRedlockHasTwoHoldersAfterARestart() {
		NaiveRedlock naive = new NaiveRedlock(
				List.of(servers.proxy(0).port(), servers.proxy(1).port(), servers.proxy(2).port()));
		servers.proxy(2).refuse();
		assertThat(naive.tryLock(LOCK, "first", Duration.ofMinutes(1))).isTrue();
		servers.proxy(2).restore();
		assertThat(naive.tryLock(LOCK, "second", Duration.ofMinutes(1))).isFalse();
		servers.server(2).flushAll();
		servers.server(1).restart();
		assertThat(naive.tryLock(LOCK, "second", Duration.ofMinutes(1))).isTrue();
		assertThat(servers.server(0).get(LOCK)).isEqualTo("first");
	}

	/** Who is behind the proxies cannot reach node 2. */
	private static void holdOnNodesZeroAndOne(RedlockLockStore store) {
		servers.proxy(2).refuse();
		servers.proxy(2).cut(Cut.RST);
		assertThat(acquire(store, token())).isInstanceOf(Acquired.class);
		assertThat(servers.having(LOCK)).containsExactly(servers.server(0), servers.server(1));
	}

	private RedlockLockStore store(List<RedisConnectionFactory> nodes, boolean durable) {
		RedlockLockStore store = RedlockLockStore.create(nodes,
				new RedlockSettings("lock:", PATIENT, PATIENT, Duration.ofSeconds(3), 0, TTL, durable));
		this.stores.add(store);
		return store;
	}

	private static void awaitAllNodes(RedlockLockStore store) {
		await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
			OwnerToken token = token();
			AcquireResult answer = new JoinedStore(store).acquire(new AcquireRequest("warm-up", token, TTL, false),
					PATIENT);
			boolean everywhere = answer instanceof Acquired && servers.having("lock:warm-up").size() == 3;
			release(store, "warm-up", token);
			return everywhere;
		});
	}

	private static AcquireResult acquire(RedlockLockStore store, OwnerToken token) {
		return new JoinedStore(store).acquire(new AcquireRequest("report", token, TTL, false), PATIENT);
	}

}
