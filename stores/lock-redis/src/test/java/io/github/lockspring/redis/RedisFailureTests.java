package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy.Direction;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RespClient;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

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
@ParameterizedClass
@EnumSource
class RedisFailureTests {

	/** Of its own, since its configuration is changed; ends with this JVM. */
	private static final RedisServer server = RedisServer.start("--enable-protected-configs", "yes");

	@Parameter
	Driver driver;

	private RedisLockStore store;

	@BeforeEach
	void open() {
		server.flushAll();
		this.store = this.driver.store(server.port(), PATIENT);
	}

	@AfterEach
	void close() {
		this.store.close();
	}

	@Test
	void f01LockIsSetWithItsTtlInOneCommand() throws Exception {
		try (RespClient monitor = server.connect()) {
			monitor.command("MONITOR");
			acquire(this.store, "k", token());
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

	@Test
	void f20ConnectionCutInTheMiddleOfTheReplyFailsOneRequest() throws Exception {
		try (TcpProxy proxy = new TcpProxy(server.port());
				RedisLockStore store = this.driver.store(proxy.port(), PATIENT)) {
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

	@Test
	void f27FlushedScriptsAreLoadedAgain() {
		for (int i = 0; i < 2; i++) {
			OwnerToken token = token();
			server.command("SCRIPT", "FLUSH");
			assertThat(isAcquired(this.store, "k", token)).isTrue();
			server.command("SCRIPT", "FLUSH");
			assertThat(renew(this.store, "k", token)).containsExactly(RenewResult.RENEWED);
			server.command("SCRIPT", "FLUSH");
			assertThat(release(this.store, "k", token)).isEqualTo(new ReleaseResult.Released());
		}
	}

	@Test
	void f30ReadOnlyReplicaIsUnavailable() {
		server.command("REPLICAOF", "127.0.0.1", String.valueOf(RedisServer.freePort()));
		try {
			assertNothingAcquired("READONLY");
		}
		finally {
			server.command("REPLICAOF", "NO", "ONE");
		}
	}

	/** As behind one address for a master that changes. */
	@Test
	void f30ReplacedMasterThatStaysUpIsLeft() {
		try (RedisServer former = RedisServer.start();
				RedisServer successor = RedisServer.start();
				TcpProxy address = new TcpProxy(former.port());
				RedisLockStore store = this.driver.store(address.port(), PATIENT)) {
			acquire(store, "other", token());
			address.target(successor.port());
			former.command("REPLICAOF", "127.0.0.1", String.valueOf(successor.port()));
			OwnerToken token = token();
			await().ignoreExceptions().until(() -> isAcquired(store, "k", token));
			assertThat(successor.get("lock:k")).isEqualTo(token.toString());
		}
	}

	@Test
	void f30FailedSnapshotIsUnavailable() {
		server.command("CONFIG", "SET", "save", "3600 100000");
		server.command("CONFIG", "SET", "rdbcompression", "no");
		try {
			server.command("CONFIG", "SET", "dbfilename", "x".repeat(400));
			server.command("BGSAVE");
			await().until(() -> server.text("INFO", "persistence").contains("rdb_last_bgsave_status:err"));
			assertNothingAcquired("MISCONF");
		}
		finally {
			server.command("CONFIG", "SET", "dbfilename", "dump.rdb");
			server.command("CONFIG", "SET", "save", "");
			server.command("SAVE");
		}
	}

	@Test
	void f30ServerWithoutMemoryIsUnavailableAndStillReleases() {
		OwnerToken held = token();
		acquire(this.store, "held", held);
		acquire(this.store, "held", token(), true, PATIENT);
		server.command("CONFIG", "SET", "maxmemory", "1");
		try {
			assertNothingAcquired("OOM");
			assertThat(renew(this.store, "held", held)).containsExactly(RenewResult.RENEWED);
			assertThat(release(this.store, "held", held)).isEqualTo(new ReleaseResult.Released());
			assertThat(server.exists("lock:held")).isFalse();
		}
		finally {
			server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Test
	void h31KeyOfAnotherTypeNamesTheOtherLibraryAndTheRemedy() {
		server.command("HSET", "lock:k", "a1b2:1", "1");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> acquire(this.store, "k", token()))
			.withMessageContainingAll("WRONGTYPE", "another library", "distributed-lock.key-prefix");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> release(this.store, "k", token()))
			.withMessageContaining("WRONGTYPE");
		assertThat(server.keys()).containsExactly("lock:k");
	}

	@Test
	@Tag("h31")
	void plainClientsExcludeUsAndWeExcludeThem() {
		server.command("SET", "lock:k", "theirs", "NX", "PX", "30000");
		OwnerToken waiter = token();
		assertThat(acquire(this.store, "k", waiter, true, PATIENT)).isInstanceOf(Busy.class);
		assertThat(release(this.store, "k", token())).isInstanceOf(ReleaseResult.NotOwner.class);
		assertThat(renew(this.store, "k", token())).containsExactly(RenewResult.NOT_OWNER);
		assertThat(server.get("lock:k")).isEqualTo("theirs");
		server.command("DEL", "lock:k");
		assertThat(isAcquired(this.store, "k", waiter)).isTrue();
		assertThat(server.command("SET", "lock:k", "theirs", "NX", "PX", "30000")).isNull();
	}

	@Test
	@Tag("h31")
	void lockWithoutTtlIsBusyWithoutEnd() {
		server.command("SET", "lock:k", "theirs");
		assertThat(acquire(this.store, "k", token())).isInstanceOfSatisfying(Busy.class,
				(busy) -> assertThat(busy.remainingMillis()).isNegative());
		assertThat(server.pttl("lock:k")).isEqualTo(-1);
	}

	@Test
	void uncontendedPairIsTwoScriptsAndPublishesNothing() {
		assertThat(isAcquired(this.store, "warm-up", token())).isTrue();
		// the first calls over Jedis open connections in the background
		await().pollDelay(Duration.ZERO).untilAsserted(() -> {
			OwnerToken token = token();
			server.command("CONFIG", "RESETSTAT");
			acquire(this.store, "k", token);
			release(this.store, "k", token);
			assertThat(server.calls("evalsha")).isEqualTo(2);
			assertThat(server.calls("publish")).isZero();
			assertThat(server.calls()).as("two scripts of three calls each").isEqualTo(2 * (1 + 3));
		});
	}

	private void assertNothingAcquired(String word) {
		for (boolean queue : new boolean[] { false, true }) {
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(this.store, "k", token(), queue, PATIENT))
				.withMessageContaining(word);
		}
		assertThat(server.keys()).noneMatch((left) -> left.contains("lock:k"));
	}

}
