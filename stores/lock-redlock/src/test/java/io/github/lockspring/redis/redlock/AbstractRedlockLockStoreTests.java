package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import io.github.lockspring.redis.Driver;
import io.github.lockspring.redis.StoreFixture;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.AbstractLockStoreTests;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of stores, on five independent servers.
 */
abstract class AbstractRedlockLockStoreTests extends AbstractLockStoreTests {

	private static final RedlockSettings SETTINGS = new RedlockSettings("lock:", Duration.ofSeconds(5),
			Duration.ofSeconds(5), Duration.ofMillis(1500), 0, Duration.ofMinutes(5), true);

	private static RedlockServers servers;

	@BeforeAll
	static void start() {
		servers = RedlockServers.start(5);
	}

	@AfterAll
	static void stop() {
		servers.close();
	}

	@BeforeEach
	void warmUp() {
		OwnerToken token = StoreFixture.token();
		await().atMost(Duration.ofMinutes(1))
			.ignoreExceptions()
			.until(() -> StoreFixture.isAcquired(this.store, "warm-up", token));
		// so that the votes of slower nodes, which come after this, are not kept
		this.joined.release(new ReleaseRequest("warm-up", token), TIMEOUT);
		servers.heal();
	}

	abstract Driver driver();

	@Override
	protected LockStore createStore() {
		return RedlockLockStore.create(driver().redlockNodes(servers.ports()), SETTINGS);
	}

	@Override
	protected void loseEverything() {
		servers.heal();
	}

	/** As long as a majority has it. */
	@Override
	protected long remainingMillis(String key) {
		return servers.all()
			.stream()
			.map((server) -> server.pttl("lock:" + key))
			.sorted(Comparator.reverseOrder())
			.toList()
			.get(2);
	}

	@Override
	protected int leftovers() {
		// the minority is told in the background
		await().pollDelay(Duration.ZERO).untilAsserted(() -> assertThat(left()).isEmpty());
		return left().size();
	}

	private static List<String> left() {
		List<String> left = new ArrayList<>();
		for (RedisServer server : servers.all()) {
			assertThat(server.keys()).noneMatch((key) -> server.pttl(key) == -1);
			server.keys()
				.stream()
				.filter((key) -> !key.endsWith("}:fence:lock:"))
				.forEach((key) -> left.add(server.port() + " has " + key + " of " + server.get(key)));
		}
		return left;
	}

	@Test
	@Tag("h28")
	void thereIsNoQueue() {
		assertThat(this.store.inbox(instance('1'), new RecordingListener())).isEmpty();
	}

}
