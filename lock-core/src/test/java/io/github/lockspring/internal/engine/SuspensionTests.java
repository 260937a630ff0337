package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.internal.engine.support.Time;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The machine is suspended with its monotonic clock, and its wall clock shows that.
 */
class SuspensionTests {

	private static final LockRequest FIXED = LockRequest.of("order:42").ttl(Duration.ofSeconds(30)).renew(false);

	private long monotonic = Long.MAX_VALUE - 1_000_000;

	private long wall = 1_800_000_000_000L;

	/** Added by the next reading of the wall clock, as by a thread that is paused. */
	private long pause;

	private final Time time = new MonotonicClock(() -> this.monotonic, this::readWall)::getAsLong;

	private final ScriptedStore store = new ScriptedStore();

	private final List<LockEvent> events = new ArrayList<>();

	private final KeyLockRegistry registry = new KeyLockRegistry(this.store, EngineSettings.defaults(),
			this.events::add, LockRecorder.NONE, null, this.time, EngineFixture.NO_THREADS);

	private final LockEngine engine = new LockEngine(this.store, (threads) -> this.registry, UnitOfWork.NONE);

	@BeforeEach
	void freeAllLocks() {
		this.store.free();
	}

	private long readWall() {
		pass(Duration.ofNanos(this.pause));
		this.pause = 0;
		return this.wall;
	}

	private void pass(Duration duration) {
		this.monotonic += duration.toNanos();
		this.wall += duration.toMillis();
	}

	private void suspend(Duration duration) {
		this.wall += duration.toMillis();
	}

	@Test
	@Tag("stopped-clock")
	void h32LeaseThatASuspensionHasOutlivedIsLost() {
		HeldLock lock = this.engine.template().acquire(FIXED);
		pass(Duration.ofSeconds(1));
		suspend(Duration.ofSeconds(20));
		assertThat(lock.isHeld()).isTrue();
		assertThat(lock.remaining()).isLessThan(Duration.ofSeconds(9));
		suspend(Duration.ofSeconds(10));
		assertThat(lock.isHeld()).isFalse();
		assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Lost.class);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(lock::close);
	}

	@Test
	@Tag("stopped-clock")
	void h32WatchdogFindsWhatASuspensionHasOutlived() {
		this.engine.template().acquire(FIXED);
		suspend(Duration.ofMinutes(1));
		this.registry.watchdog().round();
		assertThat(this.events).hasAtLeastOneElementOfType(LockEvent.Lost.class);
	}

	@Test
	void adjustmentsOfTheWallClockChangeNothing() {
		HeldLock lock = this.engine.template().acquire(FIXED);
		long start = this.time.nanoTime();
		for (int i = 0; i < 2000; i++) {
			pass(Duration.ofMillis(10));
			// far more than a clock is slewed by
			this.wall += i % 2;
			this.time.nanoTime();
		}
		assertThat(this.time.nanoTime() - start).isEqualTo(Duration.ofSeconds(20).toNanos());
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	@Tag("stopped-clock")
	void wallClockThatGoesBackMakesNoLeaseLongerAndHidesNoSuspension() {
		HeldLock lock = this.engine.template().acquire(FIXED);
		long start = this.time.nanoTime();
		suspend(Duration.ofHours(-1));
		assertThat(this.time.nanoTime() - start).isZero();
		suspend(Duration.ofSeconds(31));
		assertThat(lock.isHeld()).isFalse();
	}

	@Test
	void threadThatIsPausedWhileItReadsTheClocksSeesNoSuspension() {
		HeldLock lock = this.engine.template().acquire(FIXED);
		long start = this.time.nanoTime();
		this.pause = Duration.ofSeconds(20).toNanos();
		assertThat(this.time.nanoTime() - start).isEqualTo(Duration.ofSeconds(20).toNanos());
		assertThat(this.time.nanoTime() - start).isEqualTo(Duration.ofSeconds(20).toNanos());
		assertThat(lock.isHeld()).isTrue();
	}

	@Test
	void suspensionThatTwoThreadsSeeCountsOnce() {
		AtomicReference<Time> seen = new AtomicReference<>();
		AtomicInteger reads = new AtomicInteger();
		Time time = new MonotonicClock(() -> 0, () -> {
			if (reads.incrementAndGet() == 3) {
				// between the two comparisons of the clocks another thread compares them
				assertThat(seen.get().nanoTime()).isEqualTo(Duration.ofSeconds(20).toNanos());
			}
			return (reads.get() > 1) ? 20_000 : 0;
		})::getAsLong;
		seen.set(time);
		assertThat(time.nanoTime()).isEqualTo(Duration.ofSeconds(20).toNanos());
	}

}
