package io.github.lockspring.internal.engine;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * The state machine of a key, played by a machine: thousands of random orders of events
 * for a few instances and a model of the store, on one thread. Looks for two holders,
 * tokens that do not grow, waiters that are forgotten, and things left over.
 * {@code -Dlockspring.played.runs=1000000} plays more, {@code -Dlockspring.played.seed=…}
 * the one of a failure again, exactly.
 */
class PlayedEngineTests {

	private static final int RUNS = Integer.getInteger("lockspring.played.runs", 4_000);

	private static final Long SEED = Long.getLong("lockspring.played.seed");

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.github.lockspring");

	@BeforeEach
	void logOnlyErrors() {
		LOGGER.setLevel(Level.ERROR);
	}

	@AfterEach
	void logAsBefore() {
		LOGGER.setLevel(null);
	}

	@Test
	void noOrderOfEventsBreaksAnInvariant() {
		long first = (SEED != null) ? SEED : System.nanoTime();
		int runs = (SEED != null) ? 1 : RUNS;
		int holds = 0;
		for (long seed = first; seed - first < runs; seed++) {
			holds += play(seed).holds();
		}
		assertThat(holds).as("holds").isGreaterThan((SEED != null) ? -1 : runs);
	}

	@Test
	void aSeedRepeatsItsRunExactly() {
		List<String> once = trace(42);
		assertThat(once).hasSizeGreaterThan(50).isEqualTo(trace(42));
		assertThat(once).isNotEqualTo(trace(43));
	}

	private static PlayedWorld play(long seed) {
		PlayedWorld world = new PlayedWorld(seed, false);
		try {
			world.play();
		}
		catch (RuntimeException ex) {
			fail("seed " + seed + ": " + ex.getMessage() + "\n" + String.join("\n", trace(seed)), ex);
		}
		return world;
	}

	private static List<String> trace(long seed) {
		PlayedWorld world = new PlayedWorld(seed, true);
		try {
			world.play();
		}
		catch (RuntimeException ex) {
			world.trace("%s", ex.getMessage());
		}
		return world.trace();
	}

}
