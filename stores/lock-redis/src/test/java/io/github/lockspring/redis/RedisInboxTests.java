package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.SentinelGroup;
import io.github.lockspring.testsupport.store.RecordingListener.Grant;
import io.github.lockspring.testsupport.store.RecordingListener.Wanted;
import io.github.lockspring.testsupport.store.RecordingListener;
import io.lettuce.core.ReadFrom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.instance;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@ParameterizedClass
@EnumSource
class RedisInboxTests {

	private static final RedisServer shared = RedisServer.shared();

	@Parameter
	Driver driver;

	private final RecordingListener listener = new RecordingListener();

	private final OwnerToken token = token(instance(1));

	private RedisLockStore store;

	private Inbox inbox;

	@AfterEach
	void close() {
		this.inbox.close();
		this.store.close();
	}

	@Test
	void messagesArriveInOrder() {
		open(shared.port());
		for (int i = 1; i <= 200; i++) {
			publish("g " + this.token + " " + i + " 0 lock:k");
		}
		await().until(() -> this.listener.grants.size() == 200);
		assertThat(this.listener.grants).extracting(Grant::fencingToken).isSorted();
	}

	@Test
	void onlyWhatIsExactlyAMessageOfOursIsReported() {
		open(shared.port());
		OwnerToken other = token(instance(2));
		List<String> strange = List.of("", "g", "w", "hello", "p", "p 77", "g " + this.token, "g " + this.token + " 1",
				"g " + this.token + " 1 0", "g " + this.token + " 1 0 ", "g " + this.token + " 1 2 lock:k",
				"g " + this.token + " -1 0 lock:k", "g " + this.token + " 0 0 lock:k",
				"g " + this.token + " 1.5 0 lock:k", "g " + this.token + " 12345678901234567 0 lock:k",
				"g " + this.token + " 1 0 other:k", "g " + other + " 1 0 lock:k", "g not.a.token 1 0 lock:k",
				"w " + other + " lock:k", "w " + this.token + " other:k", "w " + this.token,
				"G " + this.token + " 1 0 lock:k", "x " + this.token + " lock:k");
		strange.forEach(RedisInboxTests::publish);
		String key = "a key with \n and spaces";
		publish("w " + this.token + " lock:" + key);
		publish("g " + this.token + " 1780000000123457 1 lock:" + key);
		await().until(() -> this.listener.grants.size() == 1);
		assertThat(this.listener.wanted).containsExactly(new Wanted(key, this.token));
		assertThat(this.listener.grants).containsExactly(new Grant(key, this.token, 1780000000123457L, true));
	}

	@Test
	void lostConnectionIsSubscribedAgainAndReportedAsOpened() {
		try (TcpProxy proxy = new TcpProxy(shared.port())) {
			open(proxy.port());
			for (Cut cut : Cut.values()) {
				int before = this.listener.opened.get();
				proxy.cut(cut);
				await().until(() -> this.listener.opened.get() > before && this.inbox.isConfirmed());
				Wanted wanted = new Wanted("k", token(instance(1)));
				await().until(() -> {
					publish("w " + wanted.token() + " lock:k");
					return this.listener.wanted.contains(wanted);
				});
				assertThat(this.inbox.isConfirmed()).isTrue();
			}
		}
	}

	/**
	 * As behind one address for a master that changes. A message to the inbox still
	 * arrives, since the former master repeats what its successor publishes, but a
	 * release counts subscribers where it is carried out. Defect 12.
	 */
	@Test
	void inboxAtAFormerMasterMovesToItsSuccessor() {
		try (RedisServer former = RedisServer.start();
				RedisServer successor = RedisServer.start();
				TcpProxy address = new TcpProxy(former.port())) {
			open(address.port());
			address.target(successor.port());
			former.command("REPLICAOF", successor.host(), String.valueOf(successor.port()));
			SentinelGroup.awaitReplicas(successor, 1);
			await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> {
				OwnerToken holder = token();
				isAcquired(this.store, "k", holder);
				release(this.store, "k", holder);
				return this.inbox.isConfirmed() && subscribers(successor, "lock:inbox:") == 1;
			});
			await().atMost(Duration.ofMinutes(1)).until(() -> subscribers(former, "lock:inbox:") == 0);
		}
	}

	/** Each step is in time for itself, and all of them together take longer. */
	@Test
	void subscriptionOverASlowNetworkIsMadeOnce() {
		try (TcpProxy proxy = new TcpProxy(shared.port())) {
			proxy.delay(Duration.ofMillis(250));
			open(RedisLockStore.builder(this.driver.factory(proxy.port()))
				.keyPrefix("slow:")
				.commandTimeout(Duration.ofMillis(700))
				.build());
			await().during(Duration.ofSeconds(3))
				.atMost(Duration.ofMinutes(1))
				.until(() -> subscribers(shared, "slow:inbox:") == 1);
			this.inbox.close();
			await().atMost(Duration.ofMinutes(1)).until(() -> subscribers(shared, "slow:inbox:") == 0);
		}
	}

	private static long subscribers(RedisServer server, String prefix) {
		List<?> reply = (List<?>) Objects.requireNonNull(server.command("PUBSUB", "NUMSUB", prefix + instance(1)));
		return (Long) reply.get(1);
	}

	@Test
	void serverThatIsNotThereWhenTheInboxOpensIsSubscribedLater() {
		try (RedisServer server = RedisServer.start()) {
			server.kill();
			long start = System.nanoTime();
			begin(this.driver.store(server.port(), PATIENT));
			this.inbox.open();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).as("returns at once").isLessThan(PATIENT);
			assertThat(this.inbox.isConfirmed()).isFalse();
			server.restart();
			await().until(this.inbox::isConfirmed);
			assertThat(this.listener.opened.get()).isEqualTo(1);
		}
	}

	@Test
	@Tag("h21")
	void h22WhereAScriptCouldNotPublishTheStoreDoes() throws Exception {
		String key = "a key with spaces";
		OwnerToken holder = token(instance(2));
		RecordingListener holders = new RecordingListener();
		try (RedisServer server = RedisServer.start();
				TcpProxy proxy = new TcpProxy(server.port());
				RedisLockStore requests = this.driver.store(proxy.port(), PATIENT)) {
			open(server.port());
			try (Inbox inbox = this.store.inbox(holder.instance(), holders).orElseThrow()) {
				inbox.open();
				await().until(inbox::isConfirmed);
				// so that the scripts are known, and no other reply is held back
				release(requests, key, holder);
				acquire(requests, key, holder);
				withoutPublish(server, proxy, () -> acquire(requests, key, this.token, true, PATIENT),
						() -> server.exists("{lock:a key with spaces}:queue"));
				await().until(() -> holders.wanted.equals(List.of(new Wanted(key, holder))));
				withoutPublish(server, proxy, () -> release(requests, key, holder),
						() -> this.token.toString().equals(server.get("lock:" + key)));
				await().until(() -> this.listener.grants.size() == 1);
				assertThat(this.listener.grants.get(0).token()).isEqualTo(this.token);
			}
		}
	}

	/** The right is missing while the script runs, whose reply is held back. */
	private static void withoutPublish(RedisServer server, TcpProxy proxy, Runnable request, Callable<Boolean> done)
			throws InterruptedException {
		server.command("ACL", "SETUSER", "default", "-publish");
		proxy.hold(Direction.TO_CLIENT);
		Thread requesting = new Thread(request);
		requesting.start();
		await().until(done);
		server.command("ACL", "SETUSER", "default", "+publish");
		proxy.restore();
		requesting.join();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void closingEndsThreadsAndConnectionsAlsoWhenTheServerIsGone(boolean alive) {
		try (RedisServer server = RedisServer.start()) {
			open(this.driver.store(server.port(), Duration.ofMillis(500)));
			await().ignoreExceptions().until(() -> isAcquired(this.store, "k", token()));
			long start = System.nanoTime();
			if (!alive) {
				server.pause();
			}
			close();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
			if (!alive) {
				server.resume();
			}
			await().until(() -> Thread.getAllStackTraces()
				.keySet()
				.stream()
				.noneMatch((thread) -> thread.getName().startsWith("lock-redis")));
			await().until(() -> server.text("CLIENT", "LIST").lines().count() == 1);
		}
	}

	@Test
	void nothingIsSentWhileNothingHappens() {
		try (RedisServer server = RedisServer.start()) {
			open(server.port());
			OwnerToken holder = token();
			acquire(this.store, "k", holder);
			release(this.store, "k", holder);
			// a ping may still be on its way, but a second will come without one
			server.command("CONFIG", "RESETSTAT");
			await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofSeconds(1)).until(() -> {
				long calls = server.calls();
				server.command("CONFIG", "RESETSTAT");
				return calls == 0;
			});
		}
	}

	/**
	 * A replica passes on what a script publishes at the master. The subscription is at
	 * any of the two.
	 */
	@Test
	void staticMasterAndReplicasOfLettuceReceiveMessagesAtTheReplicaTooAndLockAtTheMaster() {
		try (RedisServer master = RedisServer.start(); RedisServer replica = RedisServer.start()) {
			for (RedisServer server : List.of(master, replica)) {
				server.command("ACL", "SETUSER", "locks", "on", ">secret", "~*", "&*", "+@all");
			}
			replica.command("REPLICAOF", master.host(), String.valueOf(master.port()));
			SentinelGroup.awaitReplicas(master, 1);
			RedisStaticMasterReplicaConfiguration where = new RedisStaticMasterReplicaConfiguration(replica.host(),
					replica.port());
			where.addNode(master.host(), master.port());
			where.setUsername("locks");
			where.setPassword("secret");
			LettuceClientConfiguration options = LettuceClientConfiguration.builder()
				.readFrom(ReadFrom.REPLICA_PREFERRED)
				.build();
			open(StoreFixture.store(new LettuceConnectionFactory(where, options), PATIENT));
			while (subscribers(replica, "lock:inbox:") == 0) {
				assertThat(subscribers(master, "lock:inbox:")).isPositive();
				close();
				open(StoreFixture.store(new LettuceConnectionFactory(where, options), PATIENT));
			}
			OwnerToken holder = token(instance(2));
			assertThat(isAcquired(this.store, "static", holder)).isTrue();
			assertThat(master.get("lock:static")).isEqualTo(holder.toString());
			acquire(this.store, "static", this.token, true, PATIENT);
			release(this.store, "static", holder);
			await().until(() -> this.listener.grants.size() == 1);
			assertThat(this.listener.grants.get(0).token()).isEqualTo(this.token);
			release(this.store, "static", this.token);
		}
	}

	private void begin(RedisLockStore store) {
		this.store = store;
		this.inbox = store.inbox(instance(1), this.listener).orElseThrow();
		this.inbox.open();
	}

	private void open(RedisLockStore store) {
		begin(store);
		await().atMost(Duration.ofMinutes(1)).until(this.inbox::isConfirmed);
	}

	private void open(int port) {
		open(this.driver.store(port, PATIENT));
	}

	private static void publish(String message) {
		shared.command("PUBLISH", "lock:inbox:" + instance(1), message);
	}

}
