package io.github.lockspring.engine;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * Words for people.
 */
final class Text {

	private Text() {
	}

	static String lock(Terms terms) {
		return "Lock '" + terms.key() + "'" + ((terms.name() != null) ? " (" + terms.name() + ")" : "");
	}

	/**
	 * A duration as one would write it in a setting, rounded to what matters.
	 */
	static String duration(Duration duration) {
		long millis = duration.toMillis();
		if (millis < 1000) {
			return millis + "ms";
		}
		if (millis < 10_000 && millis % 1000 >= 100) {
			return millis / 1000 + "." + millis % 1000 / 100 + "s";
		}
		long seconds = millis / 1000;
		if (seconds < 120) {
			return seconds + "s";
		}
		long minutes = seconds / 60;
		return (minutes < 120) ? minutes + "m" : minutes / 60 + "h";
	}

	static String lost(Terms terms, String reason, long fencingToken) {
		String remedy = terms.renew() ? "" : " Its ttl of " + duration(Duration.ofNanos(terms.ttl()))
				+ " was all it had: let it be renewed (renew = true), or give it a longer one.";
		return lock(terms) + " was lost: " + reason
				+ ". What was done under it may have run beside another holder's work (fencing token " + fencingToken
				+ ")." + remedy;
	}

	/**
	 * What is known about the one who has the lock that a caller wants.
	 */
	static String busy(Caller caller, @Nullable Tenure present, boolean closing, long now) {
		if (closing) {
			return "The application is stopping and waits for no locks any more.";
		}
		Hold hold = (present != null) ? present.hold : null;
		if (hold != null) {
			String lasts = " Its lease lasts " + duration(Duration.ofNanos(Math.max(0, hold.expiry() - now)))
					+ " more unless it is renewed.";
			if (hold.opener == caller.thread) {
				return "This very thread has it, by a handle that it took and has not closed; handles are not re-entered."
						+ lasts;
			}
			return "It is held in this process." + lasts;
		}
		if (present == null || !present.looked) {
			return "Others in this process were before.";
		}
		if (present.busyUntil == null) {
			return "Its key has no end of life, so it was not taken by this library; if no other client holds it, delete it.";
		}
		return "Its holder's lease lasts " + duration(Duration.ofNanos(Math.max(0, present.busyUntil - now)))
				+ " more unless it is renewed.";
	}

}
