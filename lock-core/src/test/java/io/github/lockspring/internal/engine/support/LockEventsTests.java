package io.github.lockspring.internal.engine.support;

import java.util.ArrayList;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A recorder that fails breaks nothing.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockEventsTests {

	private final List<String> recorded = new ArrayList<>();

	private boolean error;

	private final LockEvents events = new LockEvents(LockEvents.NOBODY, new LockRecorder() {
		@Override
		public void waiting(@Nullable String name, int change) {
			LockEventsTests.this.recorded.add(name + " " + change);
			if (LockEventsTests.this.error) {
				throw new NoClassDefFoundError("gone");
			}
			throw new IllegalStateException("broken");
		}

		@Override
		public String toString() {
			return "the recorder";
		}
	}, Runnable::run);

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void failureIsLoggedOnceAndTheRecorderStillCalled(boolean error, CapturedOutput output) {
		this.error = error;
		this.events.record((to) -> to.waiting("job", 1));
		this.events.record((to) -> to.waiting("job", -1));
		assertThat(this.recorded).containsExactly("job 1", "job -1");
		assertThat(output).containsOnlyOnce("The metrics of locks are incomplete: the recorder failed");
	}

}
