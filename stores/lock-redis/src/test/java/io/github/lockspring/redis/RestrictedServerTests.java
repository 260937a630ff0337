package io.github.lockspring.redis;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
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
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoredLock;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.renew;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * Servers that do not allow everything: locks work, only slower.
 */
class RestrictedServerTests {

	/** Not the point here, and a busy server may be slower than an application allows. */
	private static final EngineSettings ENGINE = patient(EngineSettings.defaults());

	private static RedisServer server;

	@BeforeAll
	static void start() {
		server = RedisServer.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

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
	void locksWorkForAUserWithTheRightsThatAreNeededAndNoMore(Driver driver) throws Exception {
		assertLocksWork(driver, documentedRights());
		assertThat(refused()).doesNotContain("publish", "subscribe", "zpopmin", "evalsha");
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

	private static EngineSettings patient(EngineSettings d) {
		return new EngineSettings(d.ttl(), d.waitTime(), d.maxHold(), PATIENT, d.shutdownTimeout(), d.asyncRelease());
	}

	private static String documentedRights() throws IOException {
		String command = "ACL SETUSER locks on >secret ";
		return "resetkeys resetchannels nocommands " + Files.readAllLines(Path.of("..", "..", "docs", "topologies.md"))
			.stream()
			.filter((line) -> line.startsWith(command))
			.findFirst()
			.orElseThrow()
			.substring(command.length());
	}

	private static String refused() {
		return String.valueOf(server.command("ACL", "LOG"));
	}

	private static void assertLocksWork(Driver driver, String rules) throws Exception {
		server.command("ACL", "LOG", "RESET");
		user(rules);
		server.command("CONFIG", "RESETSTAT");
		try (RedisLockStore one = store(driver);
				RedisLockStore two = store(driver);
				LockEngine engineOne = new LockEngine(one, ENGINE, LockEvents.NOBODY);
				LockEngine engineTwo = new LockEngine(two, ENGINE, LockEvents.NOBODY)) {
			int[] counter = new int[1];
			List<CompletableFuture<Void>> workers = new ArrayList<>();
			for (LockEngine engine : List.of(engineOne, engineTwo)) {
				workers.add(CompletableFuture.runAsync(() -> {
					for (int i = 0; i < 5; i++) {
						engine.template()
							.executeWithoutResult(LockRequest.of(driver + rules).waitTime(Duration.ofSeconds(30)),
									(lock) -> {
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
			HeldLock renewed = engineOne.template().acquire(LockRequest.of("renewed").ttl(Duration.ofSeconds(3)));
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

	@ParameterizedTest
	@EnumSource
	@Tag("h22")
	void bothMessagesArriveWhereScriptsMayNotPublish(Driver driver) {
		user("&* +@all -publish");
		RecordingListener owner = new RecordingListener();
		RecordingListener waiter = new RecordingListener();
		try (RedisLockStore store = StoreFixture.store(whereOnlyClientsPublish(driver), PATIENT);
				RedisLockStore inboxes = driver.store(server.port(), PATIENT);
				Inbox ownersInbox = inboxes.inbox(instance(1), owner).orElseThrow();
				Inbox waitersInbox = inboxes.inbox(instance(2), waiter).orElseThrow()) {
			ownersInbox.open();
			waitersInbox.open();
			await().until(() -> ownersInbox.isConfirmed() && waitersInbox.isConfirmed());
			OwnerToken holder = token(instance(1));
			OwnerToken waiting = token(instance(2));
			String key = "a key with spaces";
			acquire(store, key, holder);
			assertThat(acquire(store, key, waiting, true, PATIENT)).isInstanceOfSatisfying(Busy.class,
					(busy) -> assertThat(busy.remainingMillis()).isPositive());
			await().until(() -> owner.wanted.size() == 1);
			assertThat(owner.wanted.get(0).token()).isEqualTo(holder);
			assertThat(owner.wanted.get(0).key()).isEqualTo(key);
			release(store, key, holder);
			await().until(() -> waiter.grants.size() == 1);
			assertThat(waiter.grants.get(0).token()).isEqualTo(waiting);
			release(store, key, waiting);
		}
	}

	/** What a script publishes is refused, what a client publishes goes another way. */
	private static RedisConnectionFactory whereOnlyClientsPublish(Driver driver) {
		RedisConnectionFactory restricted = started(driver.factory(configuration()));
		RedisConnectionFactory free = started(driver.factory(server.port()));
		return (RedisConnectionFactory) Proxy.newProxyInstance(RestrictedServerTests.class.getClassLoader(),
				new Class<?>[] { RedisConnectionFactory.class },
				(proxy, method, args) -> method.getName().equals("getConnection")
						? connection(restricted.getConnection(), free) : method.invoke(restricted, args));
	}

	private static RedisConnection connection(RedisConnection restricted, RedisConnectionFactory free) {
		return (RedisConnection) Proxy.newProxyInstance(RestrictedServerTests.class.getClassLoader(),
				new Class<?>[] { RedisConnection.class }, (proxy, method, args) -> {
					if (method.getName().equals("publish")) {
						try (RedisConnection other = free.getConnection()) {
							return other.publish((byte[]) args[0], (byte[]) args[1]);
						}
					}
					try {
						return method.invoke(restricted, args);
					}
					catch (InvocationTargetException ex) {
						throw ex.getTargetException();
					}
				});
	}

	private static RedisConnectionFactory started(RedisConnectionFactory factory) {
		if (factory instanceof LettuceConnectionFactory lettuce) {
			lettuce.afterPropertiesSet();
			lettuce.start();
		}
		else if (factory instanceof JedisConnectionFactory jedis) {
			jedis.afterPropertiesSet();
			jedis.start();
		}
		return factory;
	}

	private static RedisStandaloneConfiguration configuration() {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername("app");
		configuration.setPassword("secret");
		return configuration;
	}

	private static RedisLockStore store(Driver driver) {
		return StoreFixture.store(driver.factory(configuration()), PATIENT);
	}

	private static void user(String rules) {
		List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "app", "reset", "on", ">secret", "~*"));
		words.addAll(List.of(rules.split(" ")));
		server.command(words.toArray(String[]::new));
	}

}
