package io.github.lockspring.internal.engine.support;

import io.github.lockspring.LockEvent;
import org.jspecify.annotations.Nullable;

/**
 * Receives the events of the locks of an engine, as numbers that a monitoring system can
 * add up. A {@link io.github.lockspring.LockEvent} describes a single lock instead.
 * <p>
 * Called on the threads of callers, of the driver and of the watchdog, many times a
 * second: an implementation is thread-safe, returns at once, never blocks and never
 * throws. A name is the label of the request, or null if it gave none. Times are in
 * nanoseconds.
 *
 * @since 0.1
 */
public interface LockRecorder {

	/** Records nothing. */
	LockRecorder NONE = new LockRecorder() {
	};

	/**
	 * How a request for one key ended.
	 */
	enum Outcome {

		/** The lock was acquired. */
		ACQUIRED,
		/** Another holder had it for the whole wait time. */
		BUSY,
		/** The store gave no result. */
		UNAVAILABLE,
		/** The waiting thread was interrupted. */
		INTERRUPTED

	}

	/**
	 * From where a waiter received the lock of a holder that was done.
	 */
	enum Origin {

		/** From this instance, without a request to the store. */
		LOCAL,
		/** From another instance, through the store. */
		REMOTE

	}

	/**
	 * The outcome of a renewal.
	 */
	enum Renewal {

		/** The lease was renewed in time. */
		RENEWED,
		/** The lease was renewed when less than a third of its ttl was left. */
		LATE,
		/** The store gave no result; the renewal is tried again. */
		FAILED,
		/** According to the store, the lock has another owner or none. */
		REFUSED

	}

	/**
	 * The guards that reject work whose lock was lost.
	 */
	enum Guard {

		/** The commit guard. */
		COMMIT,
		/** The fencing guard of a method with {@code @Fenced}. */
		FENCE

	}

	/**
	 * A command to the store.
	 */
	enum Command {

		/** Acquires one lock. */
		ACQUIRE,
		/** Renews one or more leases. */
		RENEW,
		/** Releases one lock, or leaves its queue. */
		RELEASE

	}

	/**
	 * A request for one key has ended. A re-entry is not a request.
	 * @param name the label, or null
	 * @param outcome how it ended
	 * @param waited time since the call began
	 */
	default void requested(@Nullable String name, Outcome outcome, long waited) {
	}

	/**
	 * A caller has begun, or ceased, to wait for a busy lock or an unavailable store.
	 * @param name the label, or null
	 * @param change 1 or -1
	 */
	default void waiting(@Nullable String name, int change) {
	}

	/**
	 * A hold has begun.
	 * @param name the label, or null
	 * @param origin from where the lock came, or null if it was free
	 */
	default void held(@Nullable String name, @Nullable Origin origin) {
	}

	/**
	 * A hold has ended, or the lock was lost. Called once for each hold.
	 * @param name the label, or null
	 * @param held time since the hold began
	 */
	default void ended(@Nullable String name, long held) {
	}

	/**
	 * A renewal has a result, or failed.
	 * @param name the label, or null
	 * @param renewal its outcome
	 */
	default void renewed(@Nullable String name, Renewal renewal) {
	}

	/**
	 * A lock was lost.
	 * @param name the label, or null
	 * @param cause what was observed
	 */
	default void lost(@Nullable String name, LockEvent.Lost.Cause cause) {
	}

	/**
	 * A guard has refused work.
	 * @param name the label of its lock, or null
	 * @param guard the guard
	 */
	default void refused(@Nullable String name, Guard guard) {
	}

	/**
	 * The store has answered a command, or failed to.
	 * @param command the command
	 * @param shard the server that was asked, empty if there is only one
	 * @param answered whether there was a result
	 * @param took time until the result or the failure
	 */
	default void commanded(Command command, String shard, boolean answered, long took) {
	}

}
