package io.github.lockspring.internal.engine;

import java.util.List;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxy;
import ch.qos.logback.core.AppenderBase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The engine, played by a machine: thousands of random orders of events for a few
 * instances and a model of the server, on one thread. Looks for two holders, tokens that
 * do not grow, waiters that are forgotten, and things left over.
 * {@code -Dlockspring.played.runs=1000000} plays more, {@code -Dlockspring.played.seed=…}
 * the one of a failure again, exactly.
 */
class PlayedEngineTests {

	private static final int RUNS = Integer.getInteger("lockspring.played.runs", 4_000);

	private static final Long SEED = Long.getLong("lockspring.played.seed");

	private static final Logger LOGGER = (Logger) LoggerFactory.getLogger("io.github.lockspring");

	/** The engine reports, and goes on, where it is wrong. */
	private final AppenderBase<ILoggingEvent> errorsFail = new AppenderBase<>() {

		@Override
		protected void append(ILoggingEvent event) {
			Throwable cause = (event.getThrowableProxy() instanceof ThrowableProxy thrown) ? thrown.getThrowable()
					: null;
			PlayedEngineTests.this.playing.promises()
				.broken(new IllegalStateException(event.getFormattedMessage() + " " + cause, cause));
		}

	};

	private PlayedWorld playing;

	@BeforeEach
	void logOnlyErrors() {
		LOGGER.setLevel(Level.ERROR);
		LOGGER.setAdditive(false);
		LOGGER.addAppender(this.errorsFail);
		this.errorsFail.start();
	}

	@AfterEach
	void logAsBefore() {
		LOGGER.detachAppender(this.errorsFail);
		LOGGER.setAdditive(true);
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

	private PlayedWorld play(long seed) {
		PlayedWorld world = new PlayedWorld(seed, false);
		try {
			play(world);
		}
		catch (RuntimeException ex) {
			throw new AssertionError("seed " + seed + ": " + ex.getMessage() + "\n" + String.join("\n", trace(seed)),
					ex);
		}
		return world;
	}

	private List<String> trace(long seed) {
		PlayedWorld world = new PlayedWorld(seed, true);
		try {
			play(world);
		}
		catch (RuntimeException ex) {
			world.trace("%s", ex.getMessage());
		}
		return world.trace();
	}

	private void play(PlayedWorld world) {
		this.playing = world;
		world.play();
	}

}
