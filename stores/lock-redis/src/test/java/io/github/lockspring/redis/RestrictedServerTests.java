package io.github.lockspring.redis;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.StoreOptions;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedisVersion;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.renew;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * Servers that do not allow everything: locks work, only slower.
 */
class RestrictedServerTests {

	private static final String COMMAND = "ACL SETUSER locks reset on >secret ";

	private static final RedisServer server = RedisServer.start();

	@BeforeEach
	void flush() {
		server.flushAll();
		server.command("SCRIPT", "FLUSH");
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, resetchannels +@all", "JEDIS, resetchannels +@all", "JEDIS, &* +@all -publish",
			"LETTUCE, &* +@all -subscribe -psubscribe", "JEDIS, &* +@all -evalsha -script",
			"LETTUCE, &* +@all -info -pubsub -publish -evalsha -script -zcard -config -client -hello",
			"JEDIS, &* +@all -info -pubsub -publish -evalsha -script -zcard -config -client -hello" })
	void locksWorkBetweenTwoInstances(Driver driver, String rules) throws Exception {
		assertLocksWork(driver, rules);
	}

	@ParameterizedTest
	@EnumSource
	@Tag("names-of-instances")
	void locksWorkWithoutTheRightsThatOnlyMessagesAndTheEndpointNeed(Driver driver) throws Exception {
		String rights = documentedRights();
		for (String right : List.of(" ~{lock:}:instance:*", " +zrange", " +mget")) {
			assertThat(rights).contains(right);
			rights = rights.replace(right, "");
		}
		assertLocksWork(driver, rights);
		assertThat(refused()).doesNotContain("publish", "subscribe", "zpopmin", "evalsha");
	}

	@ParameterizedTest
	@EnumSource
	void ownersAreShownToAUserWithTheRightsThatAreNeeded(Driver driver) throws Exception {
		server.command("ACL", "LOG", "RESET");
		user(documentedRights());
		try (RedisLockStore store = store(driver)) {
			OwnerToken owner = token();
			InstanceInfo info = new InstanceInfo("billing", "billing-7c9f", 41);
			acquire(store, "k", owner);
			acquire(store, "k", token(), true, PATIENT);
			LockStoreInspector inspector = store.inspector().orElseThrow();
			inspector.register(owner.instance(), info, PATIENT, PATIENT);
			StoredLock seen = inspector.find("k", PATIENT).orElseThrow();
			assertThat(seen.waiting()).isOne();
			assertThat(inspector.instances(List.of(owner.instance()), PATIENT)).containsValue(info);
			assertThat(inspector.forceRelease(seen, PATIENT)).isTrue();
		}
		assertThat(refused()).isEqualTo("[]");
	}

	/** Where a new user may use all channels, a pattern is refused. */
	@Test
	void documentedUserCanBeCreatedOnTheOldestServerToo() throws Exception {
		assumeThat(RedisVersion.V6_2.banner()).as("6.2 runs on this machine").isNotEmpty();
		RedisServer oldest = RedisServer.shared(RedisVersion.V6_2);
		assertThat(oldest.command(documentedCommand().split(" "))).isEqualTo("OK");
		assertThat(oldest.command("ACL", "DELUSER", "locks")).isEqualTo(1L);
	}

	private static String documentedRights() throws IOException {
		return "resetkeys nocommands " + documentedCommand().substring(COMMAND.length());
	}

	private static String documentedCommand() throws IOException {
		return Files.readAllLines(Path.of("..", "..", "docs", "choose", "redis.md"))
			.stream()
			.filter((line) -> line.startsWith(COMMAND))
			.findFirst()
			.orElseThrow();
	}

	private static String refused() {
		return String.valueOf(server.command("ACL", "LOG"));
	}

	private static void assertLocksWork(Driver driver, String rules) throws Exception {
		server.command("ACL", "LOG", "RESET");
		user(rules);
		try (Instance one = instance(driver); Instance two = instance(driver)) {
			int[] counter = new int[1];
			LockRequest request = LockRequest.of(driver + rules).waitTime(Duration.ofSeconds(30));
			List<CompletableFuture<Void>> workers = new ArrayList<>();
			for (Instance instance : List.of(one, two)) {
				workers.add(CompletableFuture.runAsync(() -> {
					for (int i = 0; i < 5; i++) {
						instance.locks().executeWithoutResult(request, (lock) -> {
							counter[0]++;
							((KeyedLock) lock).verify();
						});
					}
				}));
			}
			for (CompletableFuture<Void> worker : workers) {
				worker.get(60, TimeUnit.SECONDS);
			}
			assertThat(counter).containsExactly(10);
			HeldLock renewed = one.locks().acquire(LockRequest.of("renewed").ttl(Duration.ofSeconds(3)));
			server.command("CONFIG", "RESETSTAT");
			await().until(() -> server.calls("pttl") >= 2);
			assertThat(renewed.isHeld()).isTrue();
			renewed.close();
		}
		assertThat(server.keys()).allMatch((key) -> key.contains("}:fence"));
	}

	@ParameterizedTest
	@EnumSource
	void refusedEvalshaIsTriedOnlyOnce(Driver driver) {
		user("&* +@all -evalsha");
		try (RedisLockStore store = store(driver)) {
			server.command("ACL", "LOG", "RESET");
			for (int i = 0; i < 5; i++) {
				OwnerToken token = token();
				assertThat(acquire(store, "k", token)).isInstanceOf(Acquired.class);
				assertThat(renew(store, "k", token)).containsExactly(RenewResult.RENEWED);
				assertThat(release(store, "k", token)).isEqualTo(new ReleaseResult.Released());
			}
			assertThat(String.valueOf(server.command("ACL", "LOG"))).contains("evalsha")
				.contains("count, 1,")
				.doesNotContain("count, 2,");
		}
	}

	private static RedisStandaloneConfiguration configuration() {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername("app");
		configuration.setPassword("secret");
		return configuration;
	}

	/** Its timeouts are not the point here. */
	private static Instance instance(Driver driver) {
		return Instance.on(driver, configuration(), 0, PATIENT, StoreOptions.DEFAULT_CONNECT_TIMEOUT);
	}

	private static RedisLockStore store(Driver driver) {
		return StoreFixture.store(driver.factory(configuration()), PATIENT);
	}

	private static void user(String rules) {
		server.command(("ACL SETUSER app reset on >secret ~* " + rules).split(" "));
	}

}
