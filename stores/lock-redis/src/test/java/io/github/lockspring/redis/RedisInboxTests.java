package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.RecordingListener.Grant;
import io.github.lockspring.testsupport.store.RecordingListener.Wanted;
import io.github.lockspring.testsupport.store.RecordingListener;
import io.lettuce.core.ReadFrom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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

class RedisInboxTests {

	private final RecordingListener listener = new RecordingListener();

	@ParameterizedTest
	@EnumSource
	void messagesArriveInOrderOnOneThread(Driver driver) {
		try (RedisLockStore store = driver.store(RedisServer.shared().port(), PATIENT)) {
			Inbox inbox = open(store, instance(1));
			OwnerToken token = token(instance(1));
			for (int i = 1; i <= 200; i++) {
				publish("g " + token + " " + i + " 0 lock:k");
			}
			await().until(() -> this.listener.grants.size() == 200);
			assertThat(this.listener.grants).extracting(Grant::fencingToken).isSorted();
			inbox.close();
		}
	}

	@Test
	void onlyWhatIsExactlyAMessageOfOursIsReported() {
		try (RedisLockStore store = Driver.LETTUCE.store(RedisServer.shared().port(), PATIENT)) {
			Inbox inbox = open(store, instance(1));
			OwnerToken token = token(instance(1));
			OwnerToken other = token(instance(2));
			List<String> strange = List.of("", "g", "w", "hello", "p", "p 77", "g " + token, "g " + token + " 1",
					"g " + token + " 1 0", "g " + token + " 1 0 ", "g " + token + " 1 2 lock:k",
					"g " + token + " -1 0 lock:k", "g " + token + " 0 0 lock:k", "g " + token + " 1.5 0 lock:k",
					"g " + token + " 12345678901234567 0 lock:k", "g " + token + " 1 0 other:k",
					"g " + other + " 1 0 lock:k", "g not.a.token 1 0 lock:k", "w " + other + " lock:k",
					"w " + token + " other:k", "w " + token, "G " + token + " 1 0 lock:k", "x " + token + " lock:k");
			strange.forEach(RedisInboxTests::publish);
			publish("w " + token + " lock:a key with \n and spaces");
			publish("g " + token + " 1780000000123457 1 lock:a key with \n and spaces");
			await().until(() -> this.listener.grants.size() == 1);
			String key = "a key with \n and spaces";
			assertThat(this.listener.wanted).containsExactly(new Wanted(key, token));
			assertThat(this.listener.grants).containsExactly(new Grant(key, token, 1780000000123457L, true));
			inbox.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void lostConnectionIsSubscribedAgainAndReportedAsOpened(Driver driver) {
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				RedisLockStore store = driver.store(proxy.port(), PATIENT)) {
			Inbox inbox = open(store, instance(1));
			for (Cut cut : Cut.values()) {
				int before = this.listener.opened.get();
				proxy.cut(cut);
				await().until(() -> this.listener.opened.get() > before && inbox.isConfirmed());
				assertReceives(inbox);
			}
			inbox.close();
		}
	}

	/** Each step is in time for itself, and all of them together take longer. */
	@ParameterizedTest
	@EnumSource
	void subscriptionOverASlowNetworkIsMadeOnce(Driver driver) {
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				RedisLockStore store = RedisLockStore.builder(driver.factory(proxy.port()))
					.keyPrefix("slow:")
					.commandTimeout(Duration.ofMillis(700))
					.build()) {
			proxy.delay(Duration.ofMillis(250));
			Inbox inbox = store.inbox(instance(1), this.listener).orElseThrow();
			inbox.open();
			await().atMost(Duration.ofMinutes(1)).until(inbox::isConfirmed);
			await().during(Duration.ofSeconds(3)).atMost(Duration.ofMinutes(1)).until(() -> subscribers() == 1);
			inbox.close();
			await().atMost(Duration.ofMinutes(1)).until(() -> subscribers() == 0);
		}
	}

	private static long subscribers() {
		List<?> reply = (List<?>) Objects
			.requireNonNull(RedisServer.shared().command("PUBSUB", "NUMSUB", "slow:inbox:" + instance(1)));
		return (Long) reply.get(1);
	}

	@ParameterizedTest
	@EnumSource
	void restartedServerIsSubscribedAgain(Driver driver) {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), PATIENT)) {
			Inbox inbox = open(store, instance(1));
			int before = this.listener.opened.get();
			server.kill();
			server.restart();
			await().until(() -> this.listener.opened.get() > before && inbox.isConfirmed());
			inbox.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void serverThatIsNotThereWhenTheInboxOpensIsSubscribedLater(Driver driver) {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), PATIENT)) {
			server.kill();
			long start = System.nanoTime();
			Inbox inbox = store.inbox(instance(1), this.listener).orElseThrow();
			inbox.open();
			inbox.open();
			assertThat(Duration.ofNanos(System.nanoTime() - start)).as("returns at once").isLessThan(PATIENT);
			assertThat(inbox.isConfirmed()).isFalse();
			server.restart();
			await().until(inbox::isConfirmed);
			assertThat(this.listener.opened.get()).isEqualTo(1);
			inbox.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void subscriptionThatOnlyLooksAliveIsReplaced(Driver driver) {
		Duration timeout = Duration.ofMillis(500);
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				RedisLockStore store = driver.store(proxy.port(), timeout)) {
			Inbox inbox = open(store, instance(1));
			proxy.stall(Direction.TO_CLIENT);
			proxy.restoreForNewConnections();
			int before = this.listener.opened.get();
			await().until(() -> this.listener.opened.get() > before && inbox.isConfirmed());
			assertReceives(inbox);
			inbox.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void refusedSubscriptionLeavesTheLocksAlone(Driver driver) {
		try (RedisServer server = RedisServer.start()) {
			server.command("ACL", "SETUSER", "default", "resetchannels");
			try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
				Inbox inbox = store.inbox(instance(1), this.listener).orElseThrow();
				inbox.open();
				await().during(Duration.ofMillis(500)).until(() -> !inbox.isConfirmed());
				assertThat(isAcquired(store, "k", token())).isTrue();
				server.command("ACL", "SETUSER", "default", "allchannels");
				inbox.close();
				inbox.open();
				await().until(inbox::isConfirmed);
				inbox.close();
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void h21WhereTheScriptCouldNotPublishTheStoreDoes(Driver driver) throws Exception {
		try (RedisServer server = RedisServer.start();
				TcpProxy proxy = new TcpProxy(server.port());
				RedisLockStore waiters = driver.store(server.port(), PATIENT);
				RedisLockStore holders = driver.store(proxy.port(), PATIENT)) {
			Inbox inbox = open(waiters, instance(1));
			OwnerToken holder = token(instance(2));
			OwnerToken waiter = token(instance(1));
			// so that the script is known, and its answer the first that is held back
			release(holders, "k", holder);
			acquire(holders, "k", holder);
			acquire(waiters, "k", waiter, true, StoreFixture.PATIENT);
			server.command("ACL", "SETUSER", "default", "-publish");
			proxy.hold(Direction.TO_CLIENT);
			Thread releasing = new Thread(() -> release(holders, "k", holder));
			releasing.start();
			await().until(() -> waiter.toString().equals(server.get("lock:k")));
			assertThat(this.listener.grants).isEmpty();
			server.command("ACL", "SETUSER", "default", "+publish");
			proxy.restore();
			await().until(() -> this.listener.grants.size() == 1);
			assertThat(this.listener.grants.get(0).token()).isEqualTo(waiter);
			releasing.join();
			inbox.close();
		}
	}

	@ParameterizedTest
	@EnumSource
	void closingEndsThreadsAndConnectionsAlsoWhenTheServerIsGone(Driver driver) {
		Duration timeout = Duration.ofMillis(500);
		for (boolean alive : new boolean[] { true, false }) {
			try (RedisServer server = RedisServer.start()) {
				RedisLockStore store = driver.store(server.port(), timeout);
				Inbox inbox = open(store, instance(1));
				acquireSometime(store);
				long start = System.nanoTime();
				if (!alive) {
					server.pause();
				}
				inbox.close();
				store.close();
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(20));
				if (!alive) {
					server.resume();
				}
				await().until(() -> ourThreads().isEmpty());
				await().until(() -> connections(server) == 1);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void nothingIsSentWhileNothingHappens(Driver driver) {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), PATIENT)) {
			Inbox inbox = open(store, instance(1));
			await().until(inbox::isConfirmed);
			OwnerToken token = token();
			acquire(store, "k", token);
			release(store, "k", token);
			// a ping may still be on its way, but a second will come without one
			server.command("CONFIG", "RESETSTAT");
			await().atMost(Duration.ofSeconds(30)).pollInterval(Duration.ofSeconds(1)).until(() -> {
				long calls = server.calls();
				server.command("CONFIG", "RESETSTAT");
				return calls == 0;
			});
			inbox.close();
		}
	}

	@Test
	void staticMasterAndReplicasReceiveNoMessagesButLock() {
		RedisServer server = RedisServer.shared();
		RedisStaticMasterReplicaConfiguration configuration = new RedisStaticMasterReplicaConfiguration(server.host(),
				server.port());
		LettuceConnectionFactory application = new LettuceConnectionFactory(configuration,
				LettuceClientConfiguration.builder().readFrom(ReadFrom.REPLICA_PREFERRED).build());
		try (RedisLockStore store = StoreFixture.store(application, PATIENT)) {
			assertReceivesNothing(store);
			OwnerToken token = token();
			assertThat(isAcquired(store, "static", token)).isTrue();
			assertThat(server.get("lock:static")).isEqualTo(token.toString());
			release(store, "static", token);
		}
	}

	private void assertReceivesNothing(RedisLockStore store) {
		Inbox inbox = store.inbox(instance(1), this.listener).orElseThrow();
		inbox.open();
		await().during(Duration.ofMillis(100)).until(() -> !inbox.isConfirmed());
		inbox.close();
	}

	private Inbox open(RedisLockStore store, String instance) {
		Inbox inbox = store.inbox(instance, this.listener).orElseThrow();
		inbox.open();
		await().until(inbox::isConfirmed);
		return inbox;
	}

	private void assertReceives(Inbox inbox) {
		OwnerToken token = token(instance(1));
		await().until(() -> {
			publish("w " + token + " lock:k");
			return this.listener.wanted.contains(new Wanted("k", token));
		});
		assertThat(inbox.isConfirmed()).isTrue();
	}

	private static void acquireSometime(RedisLockStore store) {
		await().ignoreExceptions().until(() -> isAcquired(store, "k", token()));
	}

	private static void publish(String message) {
		RedisServer.shared().command("PUBLISH", "lock:inbox:" + instance(1), message);
	}

	private static List<String> ourThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.map(Thread::getName)
			.filter((name) -> name.startsWith("lock-redis"))
			.toList();
	}

	private static long connections(RedisServer server) {
		return ((String) Objects.requireNonNull(server.command("CLIENT", "LIST"))).lines().count();
	}

}
