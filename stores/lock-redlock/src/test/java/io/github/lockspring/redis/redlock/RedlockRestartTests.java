package io.github.lockspring.redis.redlock;

import java.time.Duration;

import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.Test;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
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

	@Test
	void f14NodeThatWasRestartedEmptyDoesNotVoteForASecondHolder() {
		try (RedlockServers servers = RedlockServers.start(3);
				RedlockLockStore holder = store(servers.proxyPorts());
				RedlockLockStore other = store(servers.ports())) {
			Nodes.awaitAll(holder, servers);
			Nodes.awaitAll(other, servers);
			servers.cutOff(2);
			assertThat(acquire(holder)).isInstanceOf(Acquired.class);
			assertThat(servers.having(LOCK)).containsExactly(servers.server(0), servers.server(1));
			servers.server(1).restart();
			long restarted = System.nanoTime();
			AcquireResult answer = acquire(other);
			assertThat(Duration.ofNanos(System.nanoTime() - restarted)).as("what the machine took").isLessThan(TTL);
			assertThat(answer).isInstanceOf(Busy.class);
			// in the background if it came after the outcome, and long before it would
			// end
			await("the vote of node 2 is released").pollDelay(Duration.ZERO)
				.atMost(TTL.dividedBy(2))
				.untilAsserted(() -> assertThat(servers.having(LOCK)).containsExactly(servers.server(0)));
			servers.server(2).restart();
			assertThatTwoWereRestarted(other);
		}
	}

	private static void assertThatTwoWereRestarted(RedlockLockStore store) {
		await().ignoreExceptionsMatching((ex) -> !(ex instanceof AssertionError))
			.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store))
				.withMessageMatching("1 of 3 nodes can vote, 2 needed: (127.0.0.1:\\d+: another owner has the lock; )?"
						+ "127.0.0.1:\\d+: restarted \\ds ago and has no vote for another \\ds; "
						+ "127.0.0.1:\\d+: restarted \\ds ago and has no vote for another \\ds"));
	}

	private static RedlockLockStore store(int... ports) {
		return RedlockLockStore.create(Driver.LETTUCE.redlockNodes(ports),
				new RedlockSettings("lock:", PATIENT, PATIENT, Duration.ofSeconds(3), 0, TTL, false));
	}

	private static AcquireResult acquire(RedlockLockStore store) {
		return new JoinedStore(store).acquire(new AcquireRequest("report", token(), TTL, false), PATIENT);
	}

}
