package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.HeldLock;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How instances wait where the store has no queue.
 */
class StoreWithoutQueueTests extends EngineFixture {

	@Override
	ScriptedStore newStore() {
		ScriptedStore store = new ScriptedStore();
		store.hasInbox = false;
		return store;
	}

	@Test
	void h28WithoutAQueueWaitersPollLessOften() {
		Running<HeldLock> running = acquire(request());
		List<Duration> pauses = new ArrayList<>();
		for (int i = 0; i < 40; i++) {
			ScriptedStore.Asked attempt = this.store.nextLook();
			assertThat(attempt.request().queue()).isFalse();
			if (i % 2 == 0) {
				attempt.busy(TTL, 100);
			}
			else {
				attempt.fails();
			}
			this.time.awaitParked(running.thread());
			pauses.add(untilNextAttempt());
			advance(untilNextAttempt());
		}
		assertThat(pauses)
			.allSatisfy((pause) -> assertThat(pause).isBetween(Duration.ofMillis(50), Duration.ofMillis(500)))
			.anySatisfy((pause) -> assertThat(pause).isGreaterThan(Duration.ofMillis(150)));
	}

}
