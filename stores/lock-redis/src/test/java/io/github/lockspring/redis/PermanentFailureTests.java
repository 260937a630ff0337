package io.github.lockspring.redis;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.RecordingListener;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.jedis.JedisClientConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/**
 * What no wait mends is reported at once, with the server, the user and the remedy; what
 * a wait may mend is waited for.
 */
@ExtendWith(OutputCaptureExtension.class)
@ParameterizedClass
@EnumSource
class PermanentFailureTests {

	/** Longer than any test takes. */
	private static final Duration WAIT_TIME = Duration.ofMinutes(5);

	private static final Duration SHORT_WAIT_TIME = Duration.ofMillis(200);

	private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(1);

	private static final String PASSWORD = "correct-horse";

	private static final String WRONG_PASSWORD = "battery-staple";

	private static final RedisServer open = RedisServer.start();

	private static final RedisServer closed = RedisServer.start("--requirepass", PASSWORD);

	private static final int http = http(0, () -> {
	}).getAddress().getPort();

	@Parameter
	Driver driver;

	static Stream<Arguments> permanentFailures() {
		String login = "Set the password of the server: spring.data.redis.password, or with Redlock";
		String user = "Check the user and the password: spring.data.redis.username and password, or with Redlock";
		RedisStandaloneConfiguration database = at(open, null, null);
		database.setDatabase(77);
		String address = "127.0.0.1:" + http;
		String noRedis = ": its reply is not Redis protocol (";
		return Stream.of(
				arguments(at(closed, null, null), "Redis at " + closed.address() + " (database 0, no password): ",
						login),
				arguments(at(closed, null, WRONG_PASSWORD),
						"Redis at " + closed.address() + " (database 0, user 'default'): WRONGPASS ", user),
				arguments(at(closed, "nobody", WRONG_PASSWORD),
						"Redis at " + closed.address() + " (database 0, user 'nobody'): WRONGPASS ", user),
				arguments(database, "Redis at " + open.address() + " (database 77,",
						"Choose a database that the server has"),
				arguments(new RedisStandaloneConfiguration("redis.invalid", 6379),
						"Redis at redis.invalid:6379 (database 0, no password): unknown host (", "Check the address"),
				arguments(new RedisStandaloneConfiguration("127.0.0.1", http),
						"Redis at " + address + " (database 0, no password)" + noRedis,
						"Check the address, and whether the server expects TLS"),
				arguments(new RedisClusterConfiguration(List.of(address)),
						"Redis Cluster at " + address + " (no password)" + noRedis, "Check the address"),
				arguments(new RedisClusterConfiguration(List.of(open.address())),
						"Redis Cluster at " + open.address() + " (no password): ",
						"configure its host and port instead of cluster nodes"),
				arguments(new RedisClusterConfiguration(List.of(closed.address())), "Redis Cluster at ", login));
	}

	@ParameterizedTest
	@MethodSource("permanentFailures")
	void whatNoWaitMendsIsReportedAtOnceWithItsRemedy(RedisConfiguration where, String server, String remedy) {
		assertThat(permanent(where)).contains(server).contains(remedy);
	}

	static Stream<List<String>> missingPermissions() {
		return Stream.of(List.of("~*", "+ping"), List.of("~other*", "+@all"), List.of("~lock:*", "&*", "+@all"),
				List.of("~*", "&*", "+@all", "-set"), List.of("~*", "&*", "+@all", "-time"),
				List.of("~*", "&*", "+@all", "-evalsha", "-eval"));
	}

	@ParameterizedTest
	@MethodSource("missingPermissions")
	void f30MissingPermissionIsReportedAtOnceAndNothingIsAcquired(List<String> rules) {
		user("app", rules);
		assertThat(permanent(at(open, "app", PASSWORD)))
			.contains("Redis at " + open.address() + " (database 0, user 'app'): ")
			.containsAnyOf("NOPERM", "The user executing the script can't run this command", "ACL failure in script")
			.endsWith(". Grant the user the rights that docs/choose/redis.md lists");
		assertThat(open.keys()).noneMatch((left) -> left.contains("lock:k"));
	}

	@Test
	void oneUnknownHostOfSeveralIsWaitedFor() {
		List<String> nodes = List.of("redis.invalid:6379", "127.0.0.1:1");
		assertThat(temporary(new RedisClusterConfiguration(nodes)))
			.contains("Redis Cluster at 127.0.0.1:1, redis.invalid:6379 (no password): ");
		assertThat(temporary(new RedisSentinelConfiguration("shop", Set.copyOf(nodes))))
			.contains("Redis master 'shop' of the sentinels 127.0.0.1:1, redis.invalid:6379 (database 0, no password)");
	}

	@Test
	void refusedConnectionIsWaitedFor() {
		assertThat(temporary(new RedisStandaloneConfiguration("127.0.0.1", 1)))
			.contains("Redis at 127.0.0.1:1 (database 0, no password): Connection refused");
	}

	/** It takes the handshake for a command that is not complete. Defect 42. */
	@Test
	void tlsToAServerWithoutTlsIsSuspected(CapturedOutput output) {
		String suspicion = "Redis at " + open.address()
				+ " (TLS, database 0, no password) did not reply within 1s. Check whether the server expects TLS";
		try (LockStore store = RedisLockStore.builder(tlsFactory(at(open, null, null)))
			.commandTimeout(SHORT_TIMEOUT)
			.connectTimeout(SHORT_TIMEOUT)
			.build(); LockEngine engine = engine(store)) {
			if (this.driver == Driver.LETTUCE) {
				// on a busy machine the engine may say first that there is no reply
				await().atMost(WAIT_TIME)
					.untilAsserted(() -> assertThat(message(engine, SHORT_TIMEOUT.multipliedBy(3), false))
						.isEqualTo(suspicion));
			}
			else {
				// the driver waits for two timeouts, and callers only for one
				store.connected();
				await().atMost(WAIT_TIME).until(() -> output.getOut().contains("Not connected: " + suspicion));
			}
		}
	}

	/** Such as an application that starts and stops within a test. */
	@Test
	void storeThatIsClosedWhileItConnectsDoesNotWaitAndWarnsOfNothing(CapturedOutput output) {
		try (TcpProxy proxy = new TcpProxy(closed.port())) {
			proxy.hold(Direction.values());
			LockStore store = RedisLockStore.builder(this.driver.factory(proxy.port()))
				.connectTimeout(WAIT_TIME)
				.build();
			store.connected();
			await().until(() -> proxy.connections() > 0);
			store.close();
			proxy.restore();
			await().atMost(Duration.ofMinutes(1))
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().equals("lock-redis-connect")));
		}
		assertThat(output).doesNotContain("Not connected");
	}

	@Test
	void firstConnectionThatIsRefusedIsOneWarningBeforeAnyRequest(CapturedOutput output) {
		try (LockStore refused = store(at(closed, null, null));
				LockStore missing = store(new RedisStandaloneConfiguration("127.0.0.1", 1))) {
			refused.connected();
			missing.connected();
			await().until(() -> output.getOut().split("Not connected: ").length == 3);
			assertThat(output).contains("Not connected: Redis at " + closed.address() + " (database 0, no password): ")
				.contains("Not connected: Redis at 127.0.0.1:1 (database 0, no password): ");
			refused.connected();
			missing.connected();
		}
		assertThat(output.getOut().split("Not connected: ")).hasSize(3);
	}

	@Test
	void anotherServerInPlaceOfOneThatHasRepliedIsWaitedFor() throws Exception {
		try (RedisServer server = RedisServer.start();
				LockStore store = store(at(server, null, null));
				LockEngine engine = engine(store)) {
			acquireAndRelease(engine);
			server.kill();
			AtomicInteger requests = new AtomicInteger();
			HttpServer other = http(server.port(), requests::incrementAndGet);
			CompletableFuture<Void> waiter = CompletableFuture.runAsync(() -> acquireAndRelease(engine));
			await().until(() -> requests.get() > 0);
			other.stop(0);
			server.restart();
			waiter.get(1, TimeUnit.MINUTES);
		}
	}

	@Test
	void waitersForMessagesDoNotSayThatLocksWorkWithoutALogin(CapturedOutput output) {
		try (LockStore store = store(at(closed, null, null)); LockEngine engine = engine(store)) {
			List<CompletableFuture<String>> callers = Stream
				.generate(() -> CompletableFuture.supplyAsync(() -> message(engine, WAIT_TIME, true)))
				.limit(8)
				.toList();
			callers.forEach((caller) -> assertThat(caller.join()).contains("Set the password of the server"));
			Logger logger = (Logger) LoggerFactory.getLogger(InboxSubscription.class);
			logger.setLevel(Level.DEBUG);
			store.inbox(StoreFixture.instance(1), new RecordingListener()).orElseThrow().open();
			await().until(() -> output.getOut().split("cannot be subscribed at present").length > 3);
			logger.setLevel(null);
		}
		assertThat(output).doesNotContain("have to poll").doesNotContain("ocks work");
	}

	@Test
	void refusedSubscriptionIsReportedWithItsServerAndRemedy(CapturedOutput output) {
		user("mute", List.of("~*", "resetchannels", "+@all"));
		try (LockStore store = store(at(open, "mute", PASSWORD))) {
			store.inbox(StoreFixture.instance(1), new RecordingListener()).orElseThrow().open();
			await().until(() -> output.getOut().contains("so waiters have to poll"));
		}
		assertThat(output)
			.contains("Redis at " + open.address() + " (database 0, user 'mute') refuses the subscription")
			.contains("Grant the user the rights that docs/choose/redis.md lists");
	}

	private String permanent(RedisConfiguration where) {
		try (LockStore store = store(where); LockEngine engine = engine(store)) {
			return message(engine, WAIT_TIME, true);
		}
	}

	private String temporary(RedisConfiguration where) {
		try (LockStore store = store(where); LockEngine engine = engine(store)) {
			// on a busy machine the engine may say first that there is no reply
			return await().atMost(WAIT_TIME)
				.until(() -> message(engine, SHORT_WAIT_TIME, false), (reason) -> !reason.contains("has not answered"));
		}
	}

	private static String message(LockEngine engine, Duration waitTime, boolean permanent) {
		long start = System.nanoTime();
		LockUnavailableException failure = catchThrowableOfType(LockUnavailableException.class,
				() -> engine.template().acquire(LockRequest.of("k").waitTime(waitTime)));
		assertThat(failure.isPermanent()).as(failure.getMessage()).isEqualTo(permanent);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(WAIT_TIME.dividedBy(2));
		assertThat(failure).hasMessageContaining("Lock 'k' could not be requested");
		String reason = String.valueOf(failure.getCause().getMessage());
		assertThat(reason).doesNotContain(PASSWORD, WRONG_PASSWORD);
		return reason;
	}

	private static void acquireAndRelease(LockEngine engine) {
		engine.template().acquire(LockRequest.of("k").waitTime(WAIT_TIME)).close();
	}

	private RedisConnectionFactory tlsFactory(RedisStandaloneConfiguration where) {
		return (this.driver == Driver.LETTUCE)
				? new LettuceConnectionFactory(where, LettuceClientConfiguration.builder().useSsl().build())
				: new JedisConnectionFactory(where, JedisClientConfiguration.builder().useSsl().build());
	}

	private static LockEngine engine(LockStore store) {
		return new LockEngine(store, EngineSettings.defaults(), LockEvents.NOBODY);
	}

	private LockStore store(RedisConfiguration where) {
		return StoreFixture.store(this.driver.factory(where), StoreFixture.PATIENT);
	}

	private static void user(String name, List<String> rules) {
		String command = "ACL SETUSER " + name + " reset on >" + PASSWORD + " " + String.join(" ", rules);
		open.command(command.split(" "));
	}

	private static RedisStandaloneConfiguration at(RedisServer server, @Nullable String user,
			@Nullable String password) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername(user);
		configuration.setPassword(password);
		return configuration;
	}

	/** Answers every request as web servers answer what is no HTTP. */
	private static HttpServer http(int port, Runnable requested) {
		try {
			HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), port), 0);
			server.setExecutor((request) -> {
				requested.run();
				request.run();
			});
			server.start();
			return server;
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
