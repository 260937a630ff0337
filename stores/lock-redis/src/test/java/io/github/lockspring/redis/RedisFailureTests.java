package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.RedisKeys;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;

import static io.github.lockspring.redis.StoreFixture.PATIENT;
import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.release;
import static io.github.lockspring.redis.StoreFixture.renew;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Rows of the failure list that the store answers alone, with each driver.
 */
class RedisFailureTests {

	// a server of its own, since its configuration is changed
	private static RedisServer server;

	@BeforeAll
	static void start() {
		server = RedisServer.start("--enable-protected-configs", "yes");
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@BeforeEach
	void flush() {
		server.flushAll();
	}

	@ParameterizedTest
	@EnumSource
	void f01LockIsSetWithItsTtlInOneCommand(Driver driver) throws Exception {
		try (RedisLockStore store = driver.store(server.port(), PATIENT); RespClient monitor = server.connect()) {
			monitor.command("MONITOR");
			acquire(store, "k", token());
			List<String> commands = new ArrayList<>();
			do {
				commands.add((String) monitor.read());
			}
			while (!commands.get(commands.size() - 1).matches(".*\"SET\" \"\\{\\d+}:fence:lock:\".*"));
			assertThat(commands).filteredOn((line) -> line.contains("lua] \"SET\" \"lock:k\""))
				.hasSize(1)
				.allMatch((line) -> line.endsWith("\"NX\" \"PX\" \"30000\""));
			assertThat(commands).noneMatch((line) -> line.matches(".*lua] \"(P?EXPIRE|SETNX)\".*"));
		}
		assertThat(server.keys()).hasSize(2).allMatch((key) -> server.pttl(key) > 0);
	}

	/** Both locks are in one slot, and share their last fencing token. */
	@ParameterizedTest
	@EnumSource
	void lockThatWasDeletedMayHaveHadAnotherOwnerOnceAnyLockOfItsSlotWasAcquired(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			OwnerToken token = token();
			Acquired acquired = (Acquired) acquire(store, "{slot}a", token);
			server.command("DEL", "lock:{slot}a");
			ReleaseRequest release = new ReleaseRequest("{slot}a", token, 0, Duration.ZERO);
			assertThat(new JoinedStore(store).release(release, PATIENT))
				.isEqualTo(new ReleaseResult.NotOwner(acquired.fencingToken()));
			Acquired other = (Acquired) acquire(store, "{slot}b", token());
			assertThat(other.fencingToken()).isGreaterThan(acquired.fencingToken());
			assertThat(new JoinedStore(store).release(release, PATIENT))
				.isEqualTo(new ReleaseResult.NotOwner(other.fencingToken()));
		}
	}

	@ParameterizedTest
	@EnumSource
	void f20AcquireWhoseReplyWasLostSucceedsWhenRepeated(Driver driver) {
		try (TcpProxy proxy = new TcpProxy(server.port()); RedisLockStore store = driver.store(proxy.port(), PATIENT)) {
			OwnerToken warmUp = token();
			acquire(store, "other", warmUp);
			release(store, "other", warmUp);
			OwnerToken token = token();
			proxy.stall(Direction.TO_CLIENT);
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store, "k", token, false, Duration.ofMillis(300)));
			await().until(() -> token.toString().equals(server.get("lock:k")));
			proxy.restore();
			await().ignoreExceptions().until(() -> isAcquired(store, "k", token));
			assertThat(acquire(store, "k", token())).isInstanceOf(Busy.class);
			assertThat(release(store, "k", token)).isEqualTo(new ReleaseResult.Released());
		}
	}

	@ParameterizedTest
	@EnumSource
	void f20ConnectionCutInTheMiddleOfTheReplyFailsOneRequest(Driver driver) throws Exception {
		try (TcpProxy proxy = new TcpProxy(server.port()); RedisLockStore store = driver.store(proxy.port(), PATIENT)) {
			acquire(store, "other", token());
			OwnerToken token = token();
			proxy.hold(Direction.TO_CLIENT);
			Thread cutter = new Thread(() -> {
				await().until(() -> token.toString().equals(server.get("lock:k")));
				proxy.cut(Cut.FIN);
				proxy.restore();
			});
			cutter.start();
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "k", token));
			cutter.join();
			await().ignoreExceptions().until(() -> isAcquired(store, "k", token));
		}
	}

	@ParameterizedTest
	@EnumSource
	void f27FlushedScriptsAreLoadedAgain(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			for (int i = 0; i < 2; i++) {
				OwnerToken token = token();
				server.command("SCRIPT", "FLUSH");
				assertThat(isAcquired(store, "k", token)).isTrue();
				server.command("SCRIPT", "FLUSH");
				assertThat(renew(store, "k", token)).containsExactly(RenewResult.RENEWED);
				server.command("SCRIPT", "FLUSH");
				assertThat(release(store, "k", token)).isEqualTo(new ReleaseResult.Released());
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30ReadOnlyReplicaIsUnavailable(Driver driver) throws Exception {
		server.command("REPLICAOF", "127.0.0.1", String.valueOf(RedisServer.freePort()));
		try {
			assertNothingAcquired(driver, "READONLY");
		}
		finally {
			server.command("REPLICAOF", "NO", "ONE");
		}
	}

	/** As behind one address for a master that changes. */
	@ParameterizedTest
	@EnumSource
	void f30ReplacedMasterThatStaysUpIsLeft(Driver driver) {
		try (RedisServer former = RedisServer.start();
				RedisServer successor = RedisServer.start();
				TcpProxy address = new TcpProxy(former.port());
				RedisLockStore store = driver.store(address.port(), PATIENT)) {
			acquire(store, "other", token());
			address.target(successor.port());
			former.command("REPLICAOF", "127.0.0.1", String.valueOf(successor.port()));
			OwnerToken token = token();
			await().ignoreExceptions().until(() -> isAcquired(store, "k", token));
			assertThat(successor.get("lock:k")).isEqualTo(token.toString());
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30FailedSnapshotIsUnavailable(Driver driver) {
		server.command("CONFIG", "SET", "save", "3600 100000");
		server.command("CONFIG", "SET", "rdbcompression", "no");
		try {
			server.command("CONFIG", "SET", "dbfilename", "x".repeat(400));
			server.command("BGSAVE");
			await().until(() -> ((String) Objects.requireNonNull(server.command("INFO", "persistence")))
				.contains("rdb_last_bgsave_status:err"));
			assertNothingAcquired(driver, "MISCONF");
		}
		finally {
			server.command("CONFIG", "SET", "dbfilename", "dump.rdb");
			server.command("CONFIG", "SET", "save", "");
			server.command("SAVE");
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30ServerWithoutMemoryIsUnavailableAndStillReleases(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			OwnerToken held = token();
			acquire(store, "held", held);
			acquire(store, "held", token(), true, PATIENT);
			server.command("CONFIG", "SET", "maxmemory", "1");
			assertNothingAcquired(driver, "OOM");
			assertThat(renew(store, "held", held)).containsExactly(RenewResult.RENEWED);
			assertThat(release(store, "held", held)).isEqualTo(new ReleaseResult.Released());
			assertThat(server.exists("lock:held")).isFalse();
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30LockThatWasHandedOffOrIsKeptIsReleasedWithoutMemory(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			OwnerToken passedOn = token();
			OwnerToken kept = token();
			Acquired acquired = (Acquired) acquire(store, "passed-on", passedOn);
			acquire(store, "kept", kept);
			server.command("CONFIG", "SET", "maxmemory", "1");
			long last = acquired.fencingToken() + 1;
			assertThat(new JoinedStore(store).release(new ReleaseRequest("passed-on", passedOn, last, Duration.ZERO),
					PATIENT))
				.isEqualTo(new ReleaseResult.Released());
			assertThat(server.exists("lock:passed-on")).isFalse();
			assertThat(server.get(new RedisKeys("lock:").lockAndFencingToken("passed-on").get(1)))
				.isEqualTo(String.valueOf(last));
			assertThat(
					new JoinedStore(store).release(new ReleaseRequest("kept", kept, 0, Duration.ofMinutes(1)), PATIENT))
				.isEqualTo(new ReleaseResult.Released());
			assertThat(server.get("lock:kept")).isEqualTo(kept + ".kept");
			assertThat(server.pttl("lock:kept")).isGreaterThan(30_000);
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30LockIsHandedOverWithoutMemory(Driver driver) throws Exception {
		try (RedisLockStore store = driver.store(server.port(), PATIENT); RespClient inbox = server.connect()) {
			OwnerToken holder = token(StoreFixture.instance(1));
			OwnerToken waiter = token(StoreFixture.instance(2));
			inbox.command("SUBSCRIBE", "lock:inbox:" + waiter.instance());
			acquire(store, "k", holder);
			acquire(store, "k", waiter, true, PATIENT);
			server.command("CONFIG", "SET", "maxmemory", "1");
			assertThat(release(store, "k", holder)).isEqualTo(new ReleaseResult.Released());
			assertThat(server.get("lock:k")).isEqualTo(waiter.toString());
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30CommandForbiddenByTheAclIsUnavailable(Driver driver) {
		for (String forbidden : List.of("eval", "set", "time")) {
			user("~*", "&*", "+@all", "-evalsha", "-" + forbidden);
			assertNothingAcquired(driver.factory(userConfiguration()), "k", "NOPERM|permission|can't run this command");
		}
		user("~lock:*", "&*", "+@all");
		assertNothingAcquired(driver.factory(userConfiguration()), "k", "NOPERM|permission|can't run this command");
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h21")
	void f30UserWithoutChannelsCanStillLockAndHandOver(Driver driver) throws Exception {
		user("~*", "resetchannels", "+@all");
		try (RedisLockStore store = StoreFixture.store(driver.factory(userConfiguration()), PATIENT);
				RespClient inbox = server.connect()) {
			OwnerToken holder = token(StoreFixture.instance(1));
			OwnerToken waiter = token(StoreFixture.instance(2));
			inbox.command("SUBSCRIBE", "lock:inbox:" + waiter.instance());
			acquire(store, "k", holder);
			acquire(store, "k", waiter, true, PATIENT);
			assertThat(release(store, "k", holder)).isEqualTo(new ReleaseResult.Released());
			assertThat(server.get("lock:k")).isEqualTo(waiter.toString());
			assertThat(renew(store, "k", waiter)).containsExactly(RenewResult.RENEWED);
		}
	}

	@ParameterizedTest
	@EnumSource
	void f30WrongPasswordIsUnavailable(Driver driver) {
		user("~*", "&*", "+@all");
		RedisStandaloneConfiguration configuration = userConfiguration();
		configuration.setPassword("wrong");
		assertNothingAcquired(driver.factory(configuration), "k", "WRONGPASS");
	}

	@ParameterizedTest
	@EnumSource
	void h31KeyOfAnotherTypeNamesTheOtherLibraryAndTheRemedy(Driver driver) {
		server.command("HSET", "lock:k", "a1b2:1", "1");
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(store, "k", token()))
				.withMessageContaining("WRONGTYPE")
				.withMessageContaining("another library")
				.withMessageContaining("distributed-lock.key-prefix");
			assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(store, "k", token()))
				.withMessageContaining("WRONGTYPE");
		}
		assertThat(server.keys()).containsExactly("lock:k");
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h31")
	void plainClientsExcludeUsAndWeExcludeThem(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			server.command("SET", "lock:k", "theirs", "NX", "PX", "30000");
			OwnerToken waiter = token();
			assertThat(acquire(store, "k", waiter, true, PATIENT)).isInstanceOf(Busy.class);
			assertThat(release(store, "k", token())).isInstanceOf(ReleaseResult.NotOwner.class);
			assertThat(renew(store, "k", token())).containsExactly(RenewResult.NOT_OWNER);
			assertThat(server.get("lock:k")).isEqualTo("theirs");
			server.command("DEL", "lock:k");
			assertThat(acquire(store, "k", waiter, true, PATIENT)).isInstanceOf(Acquired.class);
			assertThat(server.command("SET", "lock:k", "theirs", "NX", "PX", "30000")).isNull();
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("h31")
	void lockWithoutTtlIsBusyWithoutEnd(Driver driver) {
		server.command("SET", "lock:k", "theirs");
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			assertThat(acquire(store, "k", token())).isInstanceOfSatisfying(Busy.class,
					(busy) -> assertThat(busy.remainingMillis()).isNegative());
		}
	}

	@ParameterizedTest
	@EnumSource
	void uncontendedPairIsTwoScriptsAndPublishesNothing(Driver driver) {
		try (RedisLockStore store = driver.store(server.port(), PATIENT)) {
			OwnerToken warmUp = token();
			acquire(store, "k", warmUp);
			release(store, "k", warmUp);
			// the first calls over Jedis open connections in the background
			await().pollDelay(Duration.ZERO).untilAsserted(() -> assertPairIsTwoScripts(store));
		}
	}

	private static void assertPairIsTwoScripts(RedisLockStore store) {
		server.command("CONFIG", "RESETSTAT");
		OwnerToken token = token();
		acquire(store, "k", token);
		release(store, "k", token);
		assertThat(server.calls("evalsha")).isEqualTo(2);
		assertThat(server.calls("publish")).isZero();
		assertThat(server.calls()).as("two scripts of three calls each").isEqualTo(2 * (1 + 3));
	}

	private void assertNothingAcquired(Driver driver, String words) {
		assertNothingAcquired(driver.factory(server.port()), "k", words);
	}

	private void assertNothingAcquired(RedisConnectionFactory factory, String key, String words) {
		try (RedisLockStore store = StoreFixture.store(factory, PATIENT)) {
			for (boolean queue : new boolean[] { false, true }) {
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> acquire(store, key, token(), queue, PATIENT))
					.satisfies((ex) -> assertThat(ex.getMessage()).containsPattern(words));
			}
		}
		assertThat(server.keys()).noneMatch((left) -> left.contains("lock:" + key));
	}

	private static void user(String... rules) {
		List<String> words = new ArrayList<>(List.of("ACL", "SETUSER", "app", "reset", "on", ">secret"));
		words.addAll(List.of(rules));
		server.command(words.toArray(String[]::new));
	}

	private static RedisStandaloneConfiguration userConfiguration() {
		RedisStandaloneConfiguration configuration = new RedisStandaloneConfiguration(server.host(), server.port());
		configuration.setUsername("app");
		configuration.setPassword("secret");
		return configuration;
	}

}
