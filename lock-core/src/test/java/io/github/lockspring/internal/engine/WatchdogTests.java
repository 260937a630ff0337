package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongConsumer;

import io.github.lockspring.internal.engine.support.Time;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * When the watchdog looks at what, without its thread.
 */
class WatchdogTests {

	private static final long SECOND = 1_000_000_000;

	private final FakeTime time = new FakeTime();

	private final List<Thing> things = new ArrayList<>();

	private final List<String> errors = new ArrayList<>();

	private @Nullable RuntimeException refusal;

	private int threads;

	private final Watchdog watchdog = new Watchdog(this.time, (task) -> {
		if (this.refusal != null) {
			throw this.refusal;
		}
		this.threads++;
	}, this.things, (batch) -> {
	}, (now) -> now + Time.FOREVER, (report) -> this.errors.add("reported"));

	private Thing thing(long due, LongConsumer onTick) {
		Thing thing = new Thing(due, onTick);
		this.things.add(thing);
		return thing;
	}

	@Test
	void onlyWhatIsDueIsLookedAt() {
		long now = this.time.nanoTime();
		Thing early = thing(now + SECOND, (at) -> {
		});
		Thing late = thing(now + 2 * SECOND, (at) -> {
		});
		Thing never = thing(Watchdog.Watched.NOT_DUE, (at) -> {
		});
		this.watchdog.round();
		this.time.advance(java.time.Duration.ofSeconds(1));
		this.watchdog.round();
		assertThat(List.of(early.ticks, late.ticks, never.ticks)).containsExactly(1, 0, 0);
	}

	@Test
	void whatFailsIsLookedAtAgain() {
		Thing failing = thing(this.time.nanoTime(), (at) -> {
			throw new OutOfMemoryError();
		});
		Thing other = thing(this.time.nanoTime(), (at) -> {
		});
		this.watchdog.round();
		this.watchdog.round();
		assertThat(failing.ticks).isEqualTo(2);
		assertThat(other.ticks).isEqualTo(1);
		assertThat(this.errors).hasSize(2);
	}

	@Test
	void threadIsStartedOnceAndAgainAfterARefusal() {
		this.refusal = new RejectedExecutionException();
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(this.watchdog::start);
		this.refusal = null;
		this.watchdog.start();
		this.watchdog.start();
		assertThat(this.threads).isEqualTo(1);
	}

	@Test
	void callerThatComesDuringAStartThatFailsStartsTheThreadItself() throws Exception {
		AtomicReference<Thread> second = new AtomicReference<>();
		AtomicInteger starts = new AtomicInteger();
		AtomicReference<Watchdog> watchdog = new AtomicReference<>();
		watchdog.set(new Watchdog(this.time, (task) -> {
			if (starts.incrementAndGet() == 1) {
				second.set(new Thread(watchdog.get()::start));
				second.get().start();
				await().until(() -> second.get().getState() == Thread.State.BLOCKED || !second.get().isAlive());
				throw new RejectedExecutionException();
			}
		}, this.things, (batch) -> {
		}, (now) -> now + Time.FOREVER, Runnable::run));
		assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(watchdog.get()::start);
		second.get().join();
		assertThat(starts).hasValue(2);
	}

	private static final class Thing implements Watchdog.Watched {

		private final LongConsumer onTick;

		private long due;

		private int ticks;

		Thing(long due, LongConsumer onTick) {
			this.due = due;
			this.onTick = onTick;
		}

		@Override
		public long due() {
			return this.due;
		}

		@Override
		public long tick(long now, List<Renewal> batch) {
			this.ticks++;
			this.onTick.accept(now);
			this.due = NOT_DUE;
			return 0;
		}

	}

}
