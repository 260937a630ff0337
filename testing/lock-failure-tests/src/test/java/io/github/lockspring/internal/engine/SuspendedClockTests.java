package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.failure.GuardedDatabase;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.internal.transaction.Verification;
import io.github.lockspring.redis.Instance;
import io.github.lockspring.redis.RedisLockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * A machine that is suspended with its monotonic clock, as some virtual machines and
 * laptops are, while Redis and the other instances go on.
 */
class SuspendedClockTests {

	private static final LockRequest FIXED = LockRequest.of("order:42").ttl(Duration.ofSeconds(30)).renew(false);

	private final RedisServer redis = RedisServer.start();

	private final LettuceConnectionFactory factory = new LettuceConnectionFactory(
			new RedisStandaloneConfiguration("127.0.0.1", this.redis.port()));

	private final RedisLockStore store = RedisLockStore.builder(this.factory).build();

	private final StoppableTime time = new StoppableTime();

	private final LockEngine suspended = new LockEngine(this.store, (threads) -> new KeyLockRegistry(this.store,
			EngineSettings.defaults(), LockEvents.NOBODY, LockRecorder.NONE, null, this.time,
			new EngineThreads.Executors(Runnable::run, Runnable::run, Runnable::run, SuspendedClockTests::start)),
			UnitOfWork.NONE);

	private final Instance other = Instance.on(this.redis.port());

	private final GuardedDatabase database = new GuardedDatabase();

	private static void start(Runnable task) {
		Thread thread = new Thread(task);
		thread.setDaemon(true);
		thread.start();
	}

	@BeforeEach
	void connect() {
		this.suspended.template().acquire(LockRequest.of("warm-up").waitTime(Duration.ofMinutes(1))).close();
	}

	@AfterEach
	void close() {
		this.time.goOn();
		this.suspended.close();
		this.store.close();
		this.other.close();
		this.redis.close();
	}

	@Test
	@Tag("stopped-clock-fixed-guard")
	@Tag("stopped-clock-remote")
	void onlyTheStoreKnowsBetterThanAClockThatWasStopped() {
		HeldLock lock = this.suspended.template().acquire(FIXED);
		HeldLock next = overtake();
		assertThat(lock.isHeld()).isTrue();
		assertThatCode(() -> this.database.commit(Verification.LOCAL, lock)).doesNotThrowAnyException();
		assertThatExceptionOfType(LockLostException.class)
			.isThrownBy(() -> this.database.commit(Verification.REMOTE, lock));
		assertThat(next.isHeld()).isTrue();
		next.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	@Tag("h32")
	@Tag("stopped-clock-renewed")
	void holderWhoseClockWasStoppedLearnsFromItsNextRenewal() {
		HeldLock lock = this.suspended.template().acquire(FIXED.ttl(Duration.ofSeconds(6)).renew(true));
		HeldLock next = overtake();
		assertThat(lock.isHeld()).isTrue();
		this.time.goOn();
		await().until(() -> !lock.isHeld());
		next.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close)
			.withMessageContaining("according to the store");
	}

	@Test
	@Tag("h32")
	@Tag("stopped-clock-fencing")
	void writerWhoseClockWasStoppedIsRefused() {
		HeldLock lock = this.suspended.template().acquire(FIXED);
		HeldLock next = overtake();
		this.database.fence(next);
		assertThat(lock.isHeld()).isTrue();
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> this.database.fence(lock));
		next.close();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	/**
	 * The clock stands still until the lease has run out in Redis, which a test need not
	 * wait for, and somebody else has the lock.
	 */
	private HeldLock overtake() {
		this.time.standStill();
		this.redis.command("PEXPIRE", "lock:order:42", "1");
		return this.other.locks().acquire(FIXED.waitTime(Duration.ofMinutes(1)));
	}

	/** The system's clock, which may be suspended for a while. */
	private static final class StoppableTime implements Time {

		private long suspended;

		private @Nullable Long stopped;

		synchronized void standStill() {
			this.stopped = nanoTime();
		}

		synchronized void goOn() {
			if (this.stopped != null) {
				this.suspended = System.nanoTime() - this.stopped;
				this.stopped = null;
			}
		}

		@Override
		public synchronized long nanoTime() {
			Long stopped = this.stopped;
			return (stopped != null) ? stopped : System.nanoTime() - this.suspended;
		}

		@Override
		public void park(Object blocker, long nanos) {
			LockSupport.parkNanos(blocker, nanos);
		}

		@Override
		public void unpark(Thread thread) {
			LockSupport.unpark(thread);
		}

	}

}
