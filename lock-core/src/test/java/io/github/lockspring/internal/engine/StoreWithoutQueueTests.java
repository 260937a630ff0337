package io.github.lockspring.internal.engine;

import java.time.Duration;

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
		Duration longest = Duration.ZERO;
		for (int i = 0; i < 40; i++) {
			ScriptedStore.Asked look = this.store.nextLook();
			assertThat(look.request().queue()).isFalse();
			if (i % 2 == 0) {
				look.busy(TTL, 100);
			}
			else {
				look.fails();
			}
			this.time.awaitParked(running.thread());
			Duration pause = untilNextAttempt();
			assertThat(pause).isBetween(Duration.ofMillis(50), Duration.ofMillis(500));
			longest = (pause.compareTo(longest) > 0) ? pause : longest;
			advance(pause);
		}
		assertThat(longest).isGreaterThan(Duration.ofMillis(150));
		this.store.nextLook().acquired(101);
		running.get().close();
	}

}
