package io.github.lockspring.failure;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import javax.sql.DataSource;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the fencing guard refuses when a lock is lost, and who waits for whom, on a real
 * server and a real database. No commit guard helps.
 */
class FencingFailureTests {

	private static final LockRequest REQUEST = LockRequest.of("order:42").waitTime(Duration.ofSeconds(20));

	private static final LockRequest FIXED = REQUEST.ttl(Duration.ofMillis(500)).renew(false);

	private static final LockRequest LONG = REQUEST.ttl(Duration.ofSeconds(30)).renew(false);

	private static final Consumer<KeyedLock> NOTHING = (lock) -> {
	};

	private final RedisServer redis = RedisServer.start("--maxmemory", "4mb", "--maxmemory-policy", "volatile-ttl");

	private final Journal journal = new Journal();

	private Instance mine;

	private Instance other;

	@BeforeEach
	void start() {
		this.mine = instance(this.redis.port());
		this.other = instance(this.redis.port());
	}

	private static Instance instance(int port) {
		Instance instance = Instance.on(port);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
		return instance;
	}

	@AfterEach
	void stop() {
		this.mine.close();
		this.other.close();
		this.redis.close();
	}

	@Test
	@Tag("overrun-fencing")
	void f03WriterWhoseLeaseEndedBeforeItBeganIsRefused() {
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> write(FIXED, (lock) -> writeOfTheOther(), NOTHING))
			.satisfies((ex) -> assertThat(ex.getLatest()).isGreaterThan(ex.getToken()));
		assertThat(this.journal.read()).containsExactly("other");
	}

	@Test
	@Tag("overrun-fencing")
	void f03NextHolderWaitsInTheDatabaseForAWriterThatBeganInTime() {
		List<CompletableFuture<Void>> next = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(FIXED, NOTHING, (lock) -> {
			next.add(CompletableFuture.runAsync(this::writeOfTheOther));
			awaitOther();
			assertThat(lock.isHeld()).isFalse();
			assertThat(next.get(0)).isNotDone();
		}));
		next.get(0).join();
		assertThat(this.journal.read()).containsExactly("mine", "other");
	}

	@Test
	@Tag("renewal-stops-fencing")
	void f07WriterThatWasCutOffFromRedisIsRefused() {
		try (TcpProxy proxy = new TcpProxy(this.redis.port()); Instance cutOff = instance(proxy.port())) {
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> write(cutOff, REQUEST.ttl(Duration.ofMillis(600)), (lock) -> {
					proxy.stall();
					writeOfTheOther();
				}, NOTHING));
			assertThat(this.journal.read()).containsExactly("other");
		}
	}

	@Test
	@Tag("data-loss-fencing")
	void f10WriterIsRefusedAfterRedisLostItsData() {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(LONG, (lock) -> {
			this.redis.flushAll();
			writeOfTheOther();
		}, NOTHING));
		assertThat(this.journal.read()).containsExactly("other");
	}

	@Test
	@Tag("data-loss-fencing")
	void f10WriterIsRefusedAfterRedisCameBackEmpty() {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(LONG.renew(true), (lock) -> {
			this.redis.restart();
			writeOfTheOther();
		}, NOTHING));
		assertThat(this.journal.read()).containsExactly("other");
	}

	@Test
	@Tag("eviction-fencing")
	@Tag("h33")
	void writerWhoseLockWasEvictedIsRefused() {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(LONG, (lock) -> {
			this.redis.evict("lock:order:42");
			writeOfTheOther();
		}, NOTHING));
		assertThat(this.journal.read()).containsExactly("other");
	}

	@Test
	@Tag("commit-unreachable-fencing")
	void f22WriterNeedsNoRedisToCommit() {
		write(LONG, NOTHING, (lock) -> this.redis.pause());
		assertThat(this.journal.read()).containsExactly("mine");
		this.redis.resume();
	}

	@Test
	@Tag("early-release-fencing")
	void f25NextHolderSeesTheCommitOfAWriterThatGaveItsLockBackTooEarly() {
		List<CompletableFuture<Void>> next = new ArrayList<>();
		this.journal.transaction.executeWithoutResult((status) -> {
			try (HeldLock lock = this.mine.locks().acquire(LONG)) {
				this.journal.guard.check(lock);
				this.journal.write("mine");
			}
			next.add(CompletableFuture.runAsync(() -> write(this.other, LONG, NOTHING,
					(lock) -> this.journal.write("seen " + this.journal.read().size()))));
			awaitOther();
			assertThat(next.get(0)).isNotDone();
		});
		next.get(0).join();
		assertThat(this.journal.read()).containsExactly("mine", "other", "seen 2");
	}

	@Test
	@Tag("databases-fencing")
	void eachDatabaseRefusesIndependently() {
		Journal second = new Journal();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.mine.locks().executeWithoutResult(FIXED, (lock) -> {
				this.journal.write(lock, "mine", NOTHING);
				this.other.locks().executeWithoutResult(LONG, (next) -> second.write(next, "other", NOTHING));
				second.write(lock, "mine", NOTHING);
			}));
		assertThat(this.journal.read()).containsExactly("mine");
		assertThat(second.read()).containsExactly("other");
	}

	@Test
	@Tag("side-effects-fencing")
	void writerThatIsRefusedHasDoneNothingElse() {
		List<String> sent = new ArrayList<>();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> write(FIXED, (lock) -> writeOfTheOther(), (lock) -> sent.add("mail")));
		assertThat(sent).isEmpty();
	}

	@Test
	@Tag("read-after-the-guard")
	void whatWasReadBeforeTheGuardWasCalledMayBeOld() {
		HeldLock earlier = this.mine.locks().acquire(FIXED);
		List<String> read = new ArrayList<>();
		write(this.other, LONG, (lock) -> {
			read.addAll(this.journal.read());
			this.journal.write(earlier, "mine", NOTHING);
		}, NOTHING);
		assertThat(read).isEmpty();
		assertThat(this.journal.read()).containsExactly("mine", "other");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(earlier::close);
	}

	private void write(LockRequest request, Consumer<KeyedLock> before, Consumer<KeyedLock> after) {
		write(this.mine, request, before, after);
	}

	/**
	 * Writes under a lock, and something happens before the guard is asked, and before
	 * the commit.
	 */
	private void write(Instance instance, LockRequest request, Consumer<KeyedLock> before, Consumer<KeyedLock> after) {
		String name = (instance == this.other) ? "other" : "mine";
		instance.locks().executeWithoutResult(request, (lock) -> {
			before.accept((KeyedLock) lock);
			this.journal.write(lock, name, after);
		});
	}

	private void writeOfTheOther() {
		write(this.other, LONG, NOTHING, NOTHING);
	}

	/** Until the other one has the lock, and has nothing to wait for but the row. */
	private void awaitOther() {
		await().until(this.journal::isWaitedFor);
	}

	/**
	 * A database with a table that keeps the order in which was written.
	 */
	private static final class Journal {

		private final Databases.Database database = Databases.h2(";LOCK_TIMEOUT=20000").withFencingTokens();

		private final DataSource dataSource = this.database.dataSource();

		private final JdbcTemplate jdbc = new JdbcTemplate(this.dataSource);

		private final TransactionTemplate transaction = new TransactionTemplate(
				new JdbcTransactionManager(this.dataSource));

		private final FencingGuard guard = new JdbcFencingGuard(this.dataSource);

		Journal() {
			this.jdbc.execute("CREATE TABLE entries (number INT AUTO_INCREMENT PRIMARY KEY, text VARCHAR(40))");
			// so that the next one waits for an update, which H2 shows, not for an insert
			this.transaction.executeWithoutResult((status) -> this.guard.check("order:42", 1));
		}

		void write(HeldLock lock, String text, Consumer<KeyedLock> after) {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.check(lock);
				write(text);
				after.accept((KeyedLock) lock);
			});
		}

		void write(String text) {
			this.jdbc.update("INSERT INTO entries (text) VALUES (?)", text);
		}

		List<String> read() {
			return this.jdbc.queryForList("SELECT text FROM entries ORDER BY number", String.class);
		}

		/** Whether some session waits for a row that another one has locked. */
		boolean isWaitedFor() {
			try (Connection connection = this.dataSource.getConnection();
					Statement statement = connection.createStatement();
					ResultSet waiting = statement.executeQuery(
							"SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS WHERE BLOCKER_ID IS NOT NULL")) {
				return waiting.next() && waiting.getInt(1) > 0;
			}
			catch (SQLException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

}
