package io.github.lockspring.redis;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * How long servers have not answered anything. Thread-safe.
 */
final class Silences {

	/** A server that stays silent is given twice as long each time, up to this. */
	private static final Duration LONGEST_PATIENCE = Duration.ofMinutes(1);

	private record Silence(long since, long patience) {
	}

	private final long patience;

	private final Map<String, Silence> byLane = new ConcurrentHashMap<>();

	/**
	 * Nobody is silent.
	 * @param patience for how long a server may answer nothing
	 */
	Silences(Duration patience) {
		this.patience = patience.toNanos();
	}

	void answered(String lane) {
		if (!this.byLane.isEmpty()) {
			this.byLane.remove(lane);
		}
	}

	/**
	 * Nobody is silent any more, as far as is known.
	 */
	void forget() {
		this.byLane.clear();
	}

	/**
	 * Notes that a question was not answered in time.
	 * @param asked when, by the clock of {@link System#nanoTime()}
	 * @return whether that has been so for too long; once in each such time
	 */
	boolean unanswered(String lane, long asked) {
		Silence silence = this.byLane.computeIfAbsent(lane, (any) -> new Silence(asked, this.patience));
		long now = System.nanoTime();
		return now - silence.since >= silence.patience && this.byLane.replace(lane, silence,
				new Silence(now, Math.max(this.patience, Math.min(2 * silence.patience, LONGEST_PATIENCE.toNanos()))));
	}

}
