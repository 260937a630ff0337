package io.github.lockspring.internal.engine.support;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.internal.engine.support.LockRecorder.Command;
import io.github.lockspring.internal.engine.support.LockRecorder.Guard;
import io.github.lockspring.internal.engine.support.LockRecorder.Handover;
import io.github.lockspring.internal.engine.support.LockRecorder.Outcome;
import io.github.lockspring.internal.engine.support.LockRecorder.Renewal;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A recorder of the application receives everything, and its failures harm no lock.
 */
class GuardedRecorderTests {

	private static final List<Consumer<LockRecorder>> CALLS = List.of(
			(recorder) -> recorder.requested("orders", Outcome.BUSY, 1), (recorder) -> recorder.waiting("orders", -1),
			(recorder) -> recorder.held("orders", Handover.LOCAL), (recorder) -> recorder.ended("orders", 2),
			(recorder) -> recorder.renewed("orders", Renewal.LATE),
			(recorder) -> recorder.lost("orders", Cause.EXPIRED), (recorder) -> recorder.refused(null, Guard.FENCE),
			(recorder) -> recorder.commanded(Command.RENEW, "shard", true, 3));

	private final List<String> recorded = new ArrayList<>();

	private final List<Runnable> reports = new ArrayList<>();

	private @Nullable Throwable failure;

	private final LockRecorder guarded = GuardedRecorder.of(new LockRecorder() {

		private void add(Object... values) {
			GuardedRecorderTests.this.recorded.add(List.of(values).toString());
			if (GuardedRecorderTests.this.failure instanceof RuntimeException ex) {
				throw ex;
			}
			if (GuardedRecorderTests.this.failure instanceof Error ex) {
				throw ex;
			}
		}

		@Override
		public void requested(@Nullable String name, Outcome outcome, long waited) {
			add("requested", String.valueOf(name), outcome, waited);
		}

		@Override
		public void waiting(@Nullable String name, int change) {
			add("waiting", String.valueOf(name), change);
		}

		@Override
		public void held(@Nullable String name, @Nullable Handover handover) {
			add("held", String.valueOf(name), String.valueOf(handover));
		}

		@Override
		public void ended(@Nullable String name, long held) {
			add("ended", String.valueOf(name), held);
		}

		@Override
		public void renewed(@Nullable String name, Renewal renewal) {
			add("renewed", String.valueOf(name), renewal);
		}

		@Override
		public void lost(@Nullable String name, Cause cause) {
			add("lost", String.valueOf(name), cause);
		}

		@Override
		public void refused(@Nullable String name, Guard guard) {
			add("refused", String.valueOf(name), guard);
		}

		@Override
		public void commanded(Command command, String shard, boolean answered, long took) {
			add("commanded", command, shard, answered, took);
		}

	}, this.reports::add);

	@Test
	void everythingIsPassedOn() {
		CALLS.forEach((call) -> call.accept(this.guarded));
		assertThat(this.recorded).containsExactly("[requested, orders, BUSY, 1]", "[waiting, orders, -1]",
				"[held, orders, LOCAL]", "[ended, orders, 2]", "[renewed, orders, LATE]", "[lost, orders, EXPIRED]",
				"[refused, null, FENCE]", "[commanded, RENEW, shard, true, 3]");
		assertThat(this.reports).isEmpty();
	}

	@Test
	void failuresAreLoggedOnce() {
		for (Throwable each : List.of(new IllegalStateException("broken"), new OutOfMemoryError("broken"))) {
			this.failure = each;
			CALLS.forEach((call) -> call.accept(this.guarded));
		}
		assertThat(this.recorded).hasSize(2 * CALLS.size());
		assertThat(this.reports).hasSize(1);
	}

	@Test
	void eachCallReportsItsFailure() {
		for (Consumer<LockRecorder> call : CALLS) {
			GuardedRecorderTests fresh = new GuardedRecorderTests();
			fresh.failure = new IllegalStateException("broken");
			call.accept(fresh.guarded);
			assertThat(fresh.reports).hasSize(1);
		}
	}

	@Test
	void nothingToGuardIsLeftAsItIs() {
		assertThat(GuardedRecorder.of(LockRecorder.NONE, Runnable::run)).isSameAs(LockRecorder.NONE);
	}

}
