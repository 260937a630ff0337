package io.github.lockspring.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.slf4j.LoggerFactory;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.awaitility.Awaitility.await;

/**
 * What no wait mends is reported at once, with the server, the user and the remedy; what
 * a wait may mend is waited for.
 */
@ExtendWith(OutputCaptureExtension.class)
class PermanentFailureTests {

	/** Longer than any test takes. */
	private static final Duration WAIT_TIME = Duration.ofMinutes(5);

	private static final Duration SHORT_WAIT_TIME = Duration.ofMillis(200);

	private static final String PASSWORD = "correct-horse";

	private static final String WRONG_PASSWORD = "battery-staple";

	private static RedisServer open;

	private static RedisServer closed;

	private static HttpServer http;

	@BeforeAll
	static void start() {
		open = RedisServer.start();
		closed = RedisServer.start();
		closed.command("CONFIG", "SET", "requirepass", PASSWORD);
		http = new HttpServer(0);
	}

	@AfterAll
	static void stop() {
		open.close();
		closed.close();
		http.close();
	}

	@ParameterizedTest
	@EnumSource
	void missingPasswordIsReportedAtOnce(Driver driver) {
		assertThat(permanent(store(driver, at(closed, null, null))))
			.contains("Redis at " + closed.address() + " (database 0, no password): ")
			.endsWith(
					"Set the password of the server: spring.data.redis.password, or with Redlock in the URL of the node");
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, , 'default'", "JEDIS, , 'default'", "LETTUCE, nobody, 'nobody'", "JEDIS, nobody, 'nobody'" })
	void wrongPasswordIsReportedAtOnce(Driver driver, @Nullable String user, String told) {
		assertThat(permanent(store(driver, at(closed, user, WRONG_PASSWORD))))
			.contains("Redis at " + closed.address() + " (database 0, user '" + told + "'): WRONGPASS ")
			.endsWith(
					". Check the user and the password: spring.data.redis.username and password, or with Redlock the URL of the node");
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, ~* +ping", "JEDIS, ~* +ping", "LETTUCE, ~* &* +@all -set", "JEDIS, ~* &* +@all -set",
			"LETTUCE, ~other* +@all", "JEDIS, ~other* +@all" })
	void missingPermissionIsReportedAtOnce(Driver driver, String rules) {
		List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "app", "reset", "on", ">" + PASSWORD));
		words.addAll(List.of(rules.split(" ")));
		open.command(words.toArray(String[]::new));
		assertThat(permanent(store(driver, at(open, "app", PASSWORD))))
			.contains("Redis at " + open.address() + " (database 0, user 'app'): ")
			.containsAnyOf("NOPERM", "The user executing the script can't run this command", "ACL failure in script")
			.endsWith(". Grant the user the rights that docs/topologies.md lists");
	}

	@ParameterizedTest
	@EnumSource
	void missingDatabaseIsReportedAtOnce(Driver driver) {
		RedisStandaloneConfiguration configuration = at(open, null, null);
		configuration.setDatabase(77);
		assertThat(permanent(store(driver, configuration))).contains("Redis at " + open.address() + " (database 77,")
			.endsWith(". Choose a database that the server has");
	}

	@ParameterizedTest
	@EnumSource
	void unknownHostIsReportedAtOnce(Driver driver) {
		assertThat(permanent(store(driver, new RedisStandaloneConfiguration("redis.invalid", 6379))))
			.contains("Redis at redis.invalid:6379 (database 0, no password): unknown host (")
			.endsWith("). Check the address");
	}

	@ParameterizedTest
	@EnumSource
	void serverThatIsNoRedisIsReportedAtOnce(Driver driver) {
		String address = "127.0.0.1:" + http.port();
		assertThat(permanent(store(driver, new RedisStandaloneConfiguration("127.0.0.1", http.port()))))
			.contains("Redis at " + address + " (database 0, no password): its reply is not Redis protocol (")
			.endsWith("). Check the address, and whether the server expects TLS");
		assertThat(permanent(store(driver, new RedisClusterConfiguration(List.of(address)))))
			.contains("Redis Cluster at " + address + " (no password): its reply is not Redis protocol (");
	}

	@ParameterizedTest
	@EnumSource
	void clusterThatIsNoneOrRefusesTheLoginIsReportedAtOnce(Driver driver) {
		assertThat(permanent(store(driver, new RedisClusterConfiguration(List.of(open.address())))))
			.contains("Redis Cluster at " + open.address() + " (no password): ")
			.endsWith("configure its host and port instead of cluster nodes");
		assertThat(permanent(store(driver, new RedisClusterConfiguration(List.of(closed.address()))))).endsWith(
				". Set the password of the server: spring.data.redis.password, or with Redlock in the URL of the node");
	}

	@Test
	void oneUnknownHostOfSeveralIsWaitedFor() {
		for (Driver driver : Driver.values()) {
			List<String> nodes = List.of("redis.invalid:6379", "127.0.0.1:1");
			assertThat(temporary(store(driver, new RedisClusterConfiguration(nodes))))
				.contains("Redis Cluster at 127.0.0.1:1, redis.invalid:6379 (no password): ");
			assertThat(temporary(store(driver, new RedisSentinelConfiguration("shop", Set.copyOf(nodes))))).contains(
					"Redis master 'shop' of the sentinels 127.0.0.1:1, redis.invalid:6379 (database 0, no password)");
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusedConnectionIsWaitedFor(Driver driver) {
		assertThat(temporary(store(driver, new RedisStandaloneConfiguration("127.0.0.1", 1))))
			.contains("Redis at 127.0.0.1:1 (database 0, no password): Connection refused");
	}

	/** Such as an application that starts and stops within a test. */
	@ParameterizedTest
	@EnumSource
	void storeThatIsClosedWhileItConnectsWarnsOfNothing(Driver driver, CapturedOutput output) throws IOException {
		try (TcpProxy proxy = new TcpProxy(closed.port())) {
			proxy.hold(Direction.values());
			LockStore store = store(driver, new RedisStandaloneConfiguration("127.0.0.1", proxy.port()));
			store.connected();
			store.close();
			await().atMost(Duration.ofMinutes(1))
				.until(() -> Thread.getAllStackTraces()
					.keySet()
					.stream()
					.noneMatch((thread) -> thread.getName().equals("lock-redis-connect")));
		}
		assertThat(output).doesNotContain("Not connected");
	}

	@ParameterizedTest
	@EnumSource
	void firstConnectionThatIsRefusedIsOneWarningBeforeAnyRequest(Driver driver, CapturedOutput output) {
		try (LockStore refused = store(driver, at(closed, null, null));
				LockStore missing = store(driver, new RedisStandaloneConfiguration("127.0.0.1", 1))) {
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

	@ParameterizedTest
	@EnumSource
	void anotherServerInPlaceOfOneThatHasRepliedIsWaitedFor(Driver driver) throws Exception {
		try (RedisServer server = RedisServer.start();
				LockStore store = store(driver, at(server, null, null));
				LockEngine engine = engine(store)) {
			acquireAndRelease(engine);
			server.kill();
			CompletableFuture<Void> waiter;
			try (HttpServer other = new HttpServer(server.port())) {
				waiter = CompletableFuture.runAsync(() -> acquireAndRelease(engine));
				await().until(() -> other.requests > 0);
			}
			server.restart();
			waiter.get(1, TimeUnit.MINUTES);
		}
	}

	@ParameterizedTest
	@EnumSource
	void waitersForMessagesDoNotSayThatLocksWorkWithoutALogin(Driver driver, CapturedOutput output) {
		try (LockStore store = store(driver, at(closed, null, null)); LockEngine engine = engine(store)) {
			List<CompletableFuture<String>> callers = IntStream.range(0, 8)
				.mapToObj((i) -> CompletableFuture.supplyAsync(() -> message(engine, WAIT_TIME, true)))
				.toList();
			callers.forEach((caller) -> assertThat(caller.join()).endsWith(
					"Set the password of the server: spring.data.redis.password, or with Redlock in the URL of the node"));
			Logger logger = (Logger) LoggerFactory.getLogger(InboxSubscription.class);
			logger.setLevel(Level.DEBUG);
			store.inbox(StoreFixture.instance(1), new RecordingListener()).orElseThrow().open();
			await().until(() -> output.getOut().split("cannot be subscribed at present").length > 3);
			logger.setLevel(null);
		}
		assertThat(output).doesNotContain("have to poll").doesNotContain("ocks work");
	}

	@ParameterizedTest
	@EnumSource
	void refusedSubscriptionIsReportedWithItsServerAndRemedy(Driver driver, CapturedOutput output) {
		open.command("ACL", "SETUSER", "mute", "reset", "on", ">" + PASSWORD, "~*", "resetchannels", "+@all");
		try (LockStore store = store(driver, at(open, "mute", PASSWORD))) {
			store.inbox(StoreFixture.instance(1), new RecordingListener()).orElseThrow().open();
			await().until(() -> output.getOut().contains("so waiters have to poll"));
		}
		assertThat(output)
			.contains("Redis at " + open.address() + " (database 0, user 'mute') refuses the subscription")
			.contains("Grant the user the rights that docs/topologies.md lists");
	}

	private static String permanent(LockStore store) {
		try (store; LockEngine engine = engine(store)) {
			return message(engine, WAIT_TIME, true);
		}
	}

	private static String temporary(LockStore store) {
		try (store; LockEngine engine = engine(store)) {
			return message(engine, SHORT_WAIT_TIME, false);
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

	private static LockEngine engine(LockStore store) {
		return new LockEngine(store, EngineSettings.defaults(), LockEvents.NOBODY);
	}

	private static LockStore store(Driver driver, RedisConfiguration where) {
		return StoreFixture.store(driver.factory(where), StoreFixture.PATIENT);
	}

	private static RedisStandaloneConfiguration at(RedisServer server, @Nullable String user,
			@Nullable String password) {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername(user);
		configuration.setPassword(password);
		return configuration;
	}

	/**
	 * Answers every request as web servers answer what is no HTTP.
	 */
	private static final class HttpServer implements AutoCloseable {

		private final ServerSocket socket;

		private volatile int requests;

		HttpServer(int port) {
			try {
				this.socket = new ServerSocket();
				this.socket.setReuseAddress(true);
				this.socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
			Thread thread = new Thread(this::serve, "http");
			thread.setDaemon(true);
			thread.start();
		}

		private void serve() {
			while (!this.socket.isClosed()) {
				try (Socket client = this.socket.accept()) {
					if (client.getInputStream().read(new byte[1000]) > 0) {
						this.requests++;
						client.getOutputStream()
							.write("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n"
								.getBytes(StandardCharsets.US_ASCII));
					}
				}
				catch (IOException ex) {
					// the client or this server has been closed
				}
			}
		}

		int port() {
			return this.socket.getLocalPort();
		}

		@Override
		public void close() {
			try {
				this.socket.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}

	}

}
