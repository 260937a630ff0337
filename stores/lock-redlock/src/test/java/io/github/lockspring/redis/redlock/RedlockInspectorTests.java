package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What five nodes, of which some are down or have other votes, say of a lock; see the
 * contract of stores for the rest.
 */
class RedlockInspectorTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(5);

	private static final String KEY = "k";

	private static final RedlockServers servers = Nodes.FIVE;

	private final RedlockLockStore store = RedlockLockStore.create(Driver.LETTUCE.redlockNodes(servers.ports()),
			Nodes.SETTINGS);

	private final OwnerToken owner = StoreFixture.token();

	private final OwnerToken other = StoreFixture.token();

	@BeforeEach
	void connect() {
		Nodes.awaitAll(this.store, servers);
		servers.heal();
	}

	@AfterEach
	void close() {
		servers.heal();
		this.store.close();
	}

	private LockStoreInspector inspector() {
		return this.store.inspector().orElseThrow();
	}

	private void vote(OwnerToken token, int attempt, int millis, int... nodes) {
		for (int node : nodes) {
			servers.all().get(node).command("SET", "lock:" + KEY, token + ":" + attempt, "PX", String.valueOf(millis));
		}
	}

	@Test
	void keyWithoutExpiryNeverEnds() {
		for (int node : List.of(0, 1, 2)) {
			servers.all().get(node).command("SET", "lock:" + KEY, "foreign");
		}
		assertThat(inspector().find(KEY, TIMEOUT).orElseThrow().remaining()).isNull();
	}

	@Test
	@Tag("inspection-of-a-majority")
	void ownerIsTheOneThatAMajorityNamesWhicheverItsAttempts() {
		vote(this.owner, 1, 60_000, 0, 1);
		vote(this.owner, 2, 30_000, 2);
		vote(this.other, 1, 90_000, 3, 4);
		StoredLock lock = inspector().find(KEY, TIMEOUT).orElseThrow();
		assertThat(lock.owner()).isEqualTo(this.owner.toString());
		assertThat(lock.remaining()).isBetween(Duration.ofSeconds(10), Duration.ofSeconds(30));
		assertThat(lock.age()).isBetween(Duration.ZERO, Duration.ofMinutes(5));
	}

	@Test
	void votesWithoutAMajorityAreNoLock() {
		vote(this.owner, 1, 60_000, 0, 1);
		vote(this.other, 1, 60_000, 2, 3);
		assertThat(inspector().find(KEY, TIMEOUT)).isEmpty();
	}

	@Test
	@Tag("forced-release")
	void forcedReleaseTakesTheVotesOfTheOwnerThatWasSeenOnly() {
		vote(this.owner, 1, 60_000, 0, 1, 2);
		vote(this.other, 1, 60_000, 3, 4);
		StoredLock seen = inspector().find(KEY, TIMEOUT).orElseThrow();
		assertThat(inspector().forceRelease(seen, TIMEOUT)).isTrue();
		assertThat(servers.all().stream().map((server) -> server.get("lock:" + KEY))).containsExactly(null, null, null,
				this.other + ":1", this.other + ":1");
		assertThat(inspector().forceRelease(seen, TIMEOUT)).isFalse();
	}

	@Test
	@Tag("inspection-of-a-majority")
	void nodesThatDoNotReplyMayDecide() {
		vote(this.owner, 1, 60_000, 0, 1);
		vote(this.other, 1, 60_000, 2);
		Duration brief = Duration.ofSeconds(1);
		servers.all().get(3).pause();
		servers.all().get(4).pause();
		try {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> inspector().find(KEY, brief))
				.withMessageContaining("3 of 5 nodes replied, which do not decide who has the lock")
				.withMessageContaining("did not reply within 1s");
			vote(this.owner, 1, 60_000, 2);
			assertThat(inspector().find(KEY, brief)).isPresent();
		}
		finally {
			servers.all().get(3).resume();
			servers.all().get(4).resume();
		}
	}

	@Test
	@Tag("names-of-instances")
	void instancesAreKnownAsLongAsOneNodeKnowsThem() {
		InstanceInfo info = new InstanceInfo("billing", "billing-7c9f", 41);
		inspector().register(this.owner.instance(), info, Duration.ofMinutes(1), TIMEOUT);
		List<RedisServer> all = servers.all();
		all.subList(1, all.size()).forEach(RedisServer::flushAll);
		List<String> asked = List.of(this.owner.instance(), StoreFixture.instance(7));
		assertThat(inspector().instances(asked, TIMEOUT)).containsOnlyKeys(this.owner.instance()).containsValue(info);
	}

}
