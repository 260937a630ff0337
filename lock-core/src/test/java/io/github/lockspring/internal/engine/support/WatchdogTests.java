package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

import io.github.lockspring.internal.engine.support.Watchdog.Slot;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * When the watchdog looks, sleeps, goes on after a failure and ends, on the test's thread
 * and with its clock.
 */
class WatchdogTests {

	private static final long SECOND = 1_000_000_000;

	private static final long RETRY = 100_000_000;

	private final HandTime time = new HandTime();

	private final Queue<Runnable> threads = new ArrayDeque<>();

	private Executor executor = this.threads::add;

	private final List<List<Thing>> batches = new ArrayList<>();

	private final List<Runnable> reports = new ArrayList<>();

	private Consumer<List<Thing>> onBatch = this.batches::add;

	private int looks;

	private final Watchdog<Thing> watchdog = new Watchdog<>(this.time, (task) -> this.executor.execute(task),
			(batch) -> this.onBatch.accept(batch), () -> this.looks++, this.reports::add);

	private Thing thing(long inNanos, LongUnaryOperator due) {
		Thing thing = new Thing(due);
		thing.slot = this.watchdog.schedule(thing, this.time.nanoTime() + inNanos, null);
		return thing;
	}

	/** Belongs to a batch when it is due, and ends then. */
	private Thing ending(long inNanos) {
		return thing(inNanos, (now) -> 0);
	}

	/** Sleeping takes as long as it is meant to. */
	private void sleep() {
		this.time.onPark = () -> this.time.advance(Duration.ofNanos(this.time.parks.get(this.time.parks.size() - 1)));
	}

	private void runThread() {
		this.threads.remove().run();
	}

	@Test
	void sleepsUntilTheFirstIsDueAndEndsWithTheLast() {
		sleep();
		Thing later = ending(3 * SECOND);
		Thing first = ending(SECOND);
		assertThat(this.watchdog.size()).isEqualTo(2);
		this.watchdog.start();
		this.watchdog.start();
		assertThat(this.threads).hasSize(1);
		runThread();
		assertThat(this.time.parks).containsExactly(SECOND, 2 * SECOND);
		assertThat(this.batches).containsExactly(List.of(first), List.of(later));
		assertThat(this.watchdog.size()).isZero();
		assertThat(this.looks).isEqualTo(3);
	}

	@Test
	void looksAtLeastEveryFiveSeconds() {
		sleep();
		ending(12 * SECOND);
		this.watchdog.start();
		runThread();
		assertThat(this.time.parks).containsExactly(5 * SECOND, 5 * SECOND, 2 * SECOND);
	}

	@Test
	void threadThatHasEndedIsStartedAgain() {
		sleep();
		this.watchdog.start();
		assertThat(this.threads).isEmpty();
		ending(SECOND);
		this.watchdog.start();
		runThread();
		this.watchdog.wake();
		assertThat(this.time.unparked).isEmpty();
		ending(SECOND);
		this.watchdog.start();
		runThread();
		assertThat(this.batches).hasSize(2);
	}

	@Test
	void threadThatCouldNotBeStartedIsTriedAgain() {
		this.executor = (task) -> {
			throw new RejectedExecutionException("no thread");
		};
		ending(SECOND);
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(this.watchdog::start);
		this.executor = this.threads::add;
		this.watchdog.start();
		assertThat(this.threads).hasSize(1);
	}

	@Test
	void onlyAnEarlierSlotWakesTheThread() {
		ending(2 * SECOND);
		this.time.onPark = () -> {
			sleep();
			ending(2 * SECOND);
			assertThat(this.time.unparked).isEmpty();
			ending(2 * SECOND - 1);
			assertThat(this.time.unparked).containsExactly(Thread.currentThread());
			this.watchdog.wake();
			assertThat(this.time.unparked).hasSize(2);
		};
		this.watchdog.start();
		runThread();
		assertThat(this.batches).hasSize(2);
		assertThat(this.batches.get(1)).hasSize(2);
	}

	@Test
	void batchTakesAlongWhatIsDueWithinItsWindow() {
		Thing due = thing(0, (now) -> SECOND);
		Thing soon = ending(SECOND);
		ending(SECOND + 1);
		this.watchdog.tick();
		assertThat(this.batches).containsExactly(List.of(due, soon));
		assertThat(this.watchdog.size()).isEqualTo(1);
	}

	@Test
	void whatBelongsToNoBatchTakesNothingAlong() {
		thing(0, (now) -> -1);
		ending(1);
		this.watchdog.tick();
		assertThat(this.batches).isEmpty();
		assertThat(this.watchdog.size()).isEqualTo(1);
	}

	@Test
	void lookThatFailsIsTriedAgainSoon() {
		sleep();
		int[] failures = { 2 };
		Thing thing = new Thing((now) -> 0) {
			@Override
			public long due(Slot slot, long now) {
				if (failures[0]-- > 0) {
					throw new IllegalStateException("broken");
				}
				return super.due(slot, now);
			}
		};
		thing.slot = this.watchdog.schedule(thing, this.time.nanoTime(), null);
		this.watchdog.start();
		runThread();
		assertThat(this.time.parks).containsExactly(RETRY, RETRY);
		assertThat(this.reports).hasSize(2);
		assertThat(this.batches).containsExactly(List.of(thing));
	}

	@Test
	void earlierSlotThanARetryWakesTheThreadToo() {
		Thing broken = new Thing((now) -> 0) {
			@Override
			public long due(Slot slot, long now) {
				WatchdogTests.this.watchdog.cancel(slot);
				throw new OutOfMemoryError("broken");
			}
		};
		broken.slot = this.watchdog.schedule(broken, this.time.nanoTime(), null);
		Thing other = ending(SECOND);
		this.time.onPark = () -> {
			sleep();
			this.time.advance(Duration.ofSeconds(1));
			this.watchdog.schedule(other, this.time.nanoTime() - SECOND + RETRY - 1, other.slot);
			assertThat(this.time.unparked).hasSize(1);
			this.watchdog.schedule(other, this.time.nanoTime() + SECOND, null);
			assertThat(this.time.unparked).hasSize(1);
			this.time.advance(Duration.ofSeconds(1));
		};
		this.watchdog.start();
		runThread();
		assertThat(this.time.parks).startsWith(RETRY);
	}

	@Test
	void threadSurvivesWhatABatchThrows() {
		sleep();
		Thing thing = new Thing((now) -> 0) {
			@Override
			public long due(Slot slot, long now) {
				return 0;
			}
		};
		thing.slot = this.watchdog.schedule(thing, this.time.nanoTime(), null);
		this.onBatch = (batch) -> {
			this.onBatch = (next) -> this.watchdog.cancel(thing.slot);
			throw new OutOfMemoryError("broken");
		};
		this.watchdog.start();
		runThread();
		assertThat(this.time.parks).containsExactly(RETRY);
		assertThat(this.reports).hasSize(1);
	}

	/**
	 * Something that is looked at, once.
	 */
	private class Thing implements Watchdog.Watched {

		private final LongUnaryOperator due;

		private @Nullable Slot slot;

		Thing(LongUnaryOperator due) {
			this.due = due;
		}

		@Override
		public long due(Slot slot, long now) {
			WatchdogTests.this.watchdog.cancel(slot);
			return this.due.applyAsLong(now);
		}

	}

}
