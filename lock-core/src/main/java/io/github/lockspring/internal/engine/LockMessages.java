package io.github.lockspring.internal.engine;

import java.time.Duration;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Texts about one lock, for callers and for the log: why it is busy, unavailable or lost.
 * Other texts stand where they are used, such as those of internal errors and of log
 * lines about one place in the code.
 */
final class LockMessages {

	/** The key of a lock, as a field of a log line. */
	private static final String KEY = "lock.key";

	private static final String NAME = "lock.name";

	private static final String TOKEN = "lock.token";

	static final String CLOSING = "The application is stopping and does not wait for locks any more.";

	static final String AHEAD_IN_QUEUE = "Other threads in this process are ahead in the queue.";

	static final String BEING_RELEASED = "This process is releasing it at this moment.";

	static final String STOPPED = "The application has stopped";

	static final String NOT_ANSWERED_YET = "The store has not answered yet";

	static final String ANSWERED_TOO_LATE = "The store's answer came after the lease that it gave was over";

	private LockMessages() {
	}

	/**
	 * Gives a log line the fields by which the lines of one lock are found.
	 */
	static LoggingEventBuilder about(LoggingEventBuilder line, LockParameters lock, long fencingToken) {
		LoggingEventBuilder known = line.addKeyValue(KEY, lock.key()).addKeyValue(TOKEN, fencingToken);
		return (lock.name() != null) ? known.addKeyValue(NAME, lock.name()) : known;
	}

	static String reason(Cause cause) {
		return switch (cause) {
			case EXPIRED -> "its lease ended before it could be renewed or released";
			case NOT_OWNER -> "according to the store, it has another owner or none";
			case FOUND_AT_RELEASE -> "when it was released, another owner may have had it, or has it. "
					+ "If the connection to the store was interrupted at that moment, this may be a false alarm";
			case FORCED -> "it was released by force";
			case STOPPED -> "the application stopped while the work was still running";
			case THREAD_ENDED -> "the thread that held it through asLock has ended without unlocking it,"
					+ " so it is not renewed any more; unlock in a finally block";
		};
	}

	static String lock(LockParameters lock) {
		return "Lock '" + lock.key() + "'" + ((lock.name() != null) ? " (" + lock.name() + ")" : "");
	}

	/** The lease that a call has asked for, as its attributes. */
	static String lease(LockParameters lock) {
		return "ttl = " + duration(lock.ttl()) + ", renew = " + lock.renew();
	}

	/**
	 * Prints a duration as one would write it in a property, rounded to what matters.
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

	static String ttlTooShort(String key, Duration ttl, StoreTraits traits) {
		return "Lock '" + key + "' was requested with ttl = " + duration(ttl) + ", and the store cannot give less than "
				+ duration(traits.shortestTtl()) + ": choose at least that, or another store";
	}

	static String duration(long nanos) {
		return duration(Duration.ofNanos(Math.max(0, nanos)));
	}

	static String lost(LockParameters lock, Cause cause, long fencingToken) {
		return lock(lock) + " was lost: " + reason(cause)
				+ ". The work done under it may have overlapped the work of another holder (fencing token "
				+ fencingToken + ")." + remedy(lock, cause);
	}

	private static String remedy(LockParameters lock, Cause cause) {
		return switch (cause) {
			case EXPIRED -> lock.renew()
					? " Look for a pause of the process or an outage of the store that lasted longer than the ttl of "
							+ duration(lock.ttl()) + ", or for a maxHold that ended; or set a longer ttl."
					: " Its lease lasted for its ttl of " + duration(lock.maxHold())
							+ " only: leave out renew = false, or set a longer ttl.";
			case NOT_OWNER, FOUND_AT_RELEASE -> " Look for a restart, a failover or an eviction of the store.";
			case STOPPED ->
				" Raise spring.lifecycle.timeout-per-shutdown-phase if the work may take longer than that (at most 10s).";
			case FORCED, THREAD_ENDED -> "";
		};
	}

	/**
	 * Describes a holder in this instance.
	 * @param ownHandle whether the thread that waits has opened the handle itself
	 * @param left time until its lease ends, in nanoseconds
	 */
	static String heldHere(boolean ownHandle, long left) {
		return (ownHandle ? "This thread holds it through a handle that it has not closed; handles are not re-entrant."
				: "It is held in this process.") + " Its lease" + left(left);
	}

	/**
	 * Describes a holder elsewhere.
	 * @param left time until its lease ends, in nanoseconds; years if it does not
	 */
	static String heldElsewhere(long left) {
		if (left > Time.FOREVER / 2) {
			return "Its key has no expiry, so it was not taken by this library; if no other client holds it, delete it.";
		}
		return "Its holder's lease" + left(left);
	}

	/**
	 * Names the application that holds a lock elsewhere. Its host and process are for the
	 * log.
	 * @param info the instance
	 * @param age since when it has held the lock, or null
	 */
	static String heldBy(InstanceInfo info, @Nullable Duration age) {
		return " It is held by " + (info.application().isEmpty() ? "another instance" : info.application())
				+ ((age != null) ? ", for " + duration(age) : "") + ".";
	}

	private static String left(long nanos) {
		return " lasts " + duration(nanos) + " more unless it is renewed.";
	}

	/**
	 * Describes a request for several keys that has not got to all of them.
	 */
	static String outOfTime(int acquired, int requested) {
		return "The " + acquired + " locks before it took the whole wait time of the request for " + requested
				+ ": set a longer waitTime, or request fewer keys at a time.";
	}

	static String notAcquired(LockParameters lock, boolean once, Duration waited, String detail) {
		String outcome = once ? " is busy. " : " was not acquired within " + duration(waited) + ". ";
		return lock(lock) + outcome + detail;
	}

	static String interrupted(LockParameters lock, Duration waited) {
		return lock(lock) + " was not acquired: the thread was interrupted after " + duration(waited);
	}

	static String notRequested(LockParameters lock, Duration waited, boolean stopped, LockUnavailableException cause) {
		String outcome = lock(lock) + " could not be requested";
		if (stopped) {
			return outcome + ": the application has stopped";
		}
		return outcome + (cause.isPermanent() ? ", and waiting does not help. " : " within " + duration(waited) + ". ")
				+ ((cause.getRemedy() != null) ? cause.getRemedy() + ". " : "")
				+ "The cause names the reason, and the server if it is known";
	}

	static String reentryWithoutEnd(String key) {
		return "Lock '" + key + "' is held by the present call chain, through an annotated method or execute, or is"
				+ " kept for its transaction: asLock is not re-entrant with those and would wait for itself."
				+ " Use execute here too";
	}

}
