package io.github.lockspring.failure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What the fencing guard refuses when a lock is lost, and who waits for whom, on a real
 * server and a real database. No commit guard helps.
 */
class FencingFailureTests extends AbstractGuardFailureTests {

	private static final Consumer<KeyedLock> NOTHING = (lock) -> {
	};

	@Test
	@Tag("overrun-fencing")
	@Tag("side-effects-fencing")
	void f03WriterWhoseLeaseEndedBeforeItBeganIsRefusedAndDoesNothingElse() {
		List<String> sent = new ArrayList<>();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> write(this.mine, FIXED, (lock) -> writeOfTheOther(), (lock) -> sent.add("mail")))
			.satisfies((ex) -> assertThat(ex.getLatest()).isGreaterThan(ex.getToken()));
		assertThat(this.database.read()).containsExactly("other");
		assertThat(sent).isEmpty();
	}

	@Test
	@Tag("overrun-fencing")
	void f03NextHolderWaitsInTheDatabaseForAWriterThatBeganInTime() {
		List<CompletableFuture<Void>> next = new ArrayList<>();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> write(this.mine, FIXED, NOTHING, (lock) -> {
			next.add(CompletableFuture.runAsync(this::writeOfTheOther));
			await().until(this.database::isWaitedFor);
			assertThat(lock.isHeld()).isFalse();
			assertThat(next.get(0)).isNotDone();
		}));
		next.get(0).join();
		assertThat(this.database.read()).containsExactly("mine", "other");
	}

	@Test
	@Tag("renewal-stops-fencing")
	void f07WriterThatWasCutOffFromRedisIsRefused() {
		try (TcpProxy proxy = new TcpProxy(this.redis.port()); Instance cutOff = warm(Instance.on(proxy.port()))) {
			assertThatExceptionOfType(StaleFencingTokenException.class)
				.isThrownBy(() -> write(cutOff, REQUEST.ttl(Duration.ofMillis(600)), (lock) -> {
					proxy.stall();
					writeOfTheOther();
				}, NOTHING));
			assertThat(this.database.read()).containsExactly("other");
		}
	}

	@ParameterizedTest
	@EnumSource
	@Tag("data-loss-fencing")
	@Tag("eviction-fencing")
	@Tag("h33")
	void f10WriterWhoseLockRedisHasForgottenIsRefused(DataLoss loss) {
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(this.mine, LONG, (lock) -> {
			lose(loss);
			writeOfTheOther();
		}, NOTHING));
		assertThat(this.database.read()).containsExactly("other");
	}

	@Test
	@Tag("commit-unreachable-fencing")
	void f22WriterNeedsNoRedisToCommit() {
		write(this.impatient, LONG, NOTHING, (lock) -> this.redis.pause());
		assertThat(this.database.read()).containsExactly("mine");
	}

	@Test
	@Tag("early-release-fencing")
	void f25NextHolderSeesTheCommitOfAWriterThatGaveItsLockBackTooEarly() {
		List<CompletableFuture<Void>> next = new ArrayList<>();
		this.database.transaction(Verification.OFF).executeWithoutResult((status) -> {
			try (HeldLock lock = this.mine.locks().acquire(LONG)) {
				this.database.writeFenced(lock, "mine", NOTHING);
			}
			next.add(CompletableFuture.runAsync(() -> write(this.other, LONG, NOTHING,
					(lock) -> this.database.write("seen " + this.database.read().size()))));
			await().until(this.database::isWaitedFor);
			assertThat(next.get(0)).isNotDone();
		});
		next.get(0).join();
		assertThat(this.database.read()).containsExactly("mine", "other", "seen 2");
	}

	@Test
	@Tag("databases-fencing")
	void eachDatabaseRefusesIndependently() {
		GuardedDatabase second = new GuardedDatabase();
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> this.mine.locks().executeWithoutResult(FIXED, (lock) -> {
				this.database.writeFenced(lock, "mine", NOTHING);
				this.other.locks().executeWithoutResult(LONG, (next) -> second.writeFenced(next, "other", NOTHING));
				second.writeFenced(lock, "mine", NOTHING);
			}));
		assertThat(this.database.read()).containsExactly("mine");
		assertThat(second.read()).containsExactly("other");
	}

	@Test
	@Tag("read-after-the-guard")
	void whatWasReadBeforeTheGuardWasCalledMayBeOld() {
		HeldLock earlier = this.mine.locks().acquire(FIXED);
		List<String> read = new ArrayList<>();
		write(this.other, LONG, (lock) -> {
			read.addAll(this.database.read());
			this.database.writeFenced(earlier, "mine", NOTHING);
		}, NOTHING);
		assertThat(read).isEmpty();
		assertThat(this.database.read()).containsExactly("mine", "other");
		assertThatExceptionOfType(LockLostException.class).isThrownBy(earlier::close);
	}

	/**
	 * Writes under a lock, and something happens before the guard is asked, and before
	 * the commit.
	 */
	private void write(Instance instance, LockRequest request, Consumer<KeyedLock> before, Consumer<KeyedLock> after) {
		instance.locks().executeWithoutResult(request, (lock) -> {
			before.accept((KeyedLock) lock);
			this.database.writeFenced(lock, (instance == this.other) ? "other" : "mine", after);
		});
	}

	private void writeOfTheOther() {
		write(this.other, LONG, NOTHING, NOTHING);
	}

}
