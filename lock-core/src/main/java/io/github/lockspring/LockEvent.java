package io.github.lockspring;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An event of a lock of this process, also published as a Spring application event. A
 * re-entry is no event.
 *
 * @since 0.1
 */
public sealed interface LockEvent {

	/**
	 * Returns the key.
	 * @return the key, without the store's prefix
	 */
	String key();

	/**
	 * Returns the label of the request, which has few distinct values.
	 * @return the name, or null if it gave none
	 */
	@Nullable String name();

	/**
	 * The lock was acquired.
	 *
	 * @param key the key
	 * @param name the request's label, or null
	 * @param fencingToken the fencing token
	 * @param waited time from the request to the acquisition
	 */
	record Acquired(String key, @Nullable String name, long fencingToken, Duration waited) implements LockEvent {
	}

	/**
	 * The lock was busy for the whole wait time.
	 *
	 * @param key the key
	 * @param name the request's label, or null
	 * @param waited time from the request to giving up
	 */
	record NotAcquired(String key, @Nullable String name, Duration waited) implements LockEvent {
	}

	/**
	 * The store could not be reached within the wait time.
	 *
	 * @param key the key
	 * @param name the request's label, or null
	 * @param waited time from the request to giving up
	 * @param cause the failure of the store or its driver
	 */
	record Unavailable(String key, @Nullable String name, Duration waited, Throwable cause) implements LockEvent {
	}

	/**
	 * A held lock was lost. Published as soon as the loss is known.
	 *
	 * @param key the key
	 * @param name the request's label, or null
	 * @param fencingToken the fencing token of the hold that lost it
	 * @param held time from the acquisition to the loss
	 * @param cause what was observed
	 * @param reason the same, as text
	 */
	record Lost(String key, @Nullable String name, long fencingToken, Duration held, Cause cause,
			String reason) implements LockEvent {

		/**
		 * What was observed when a lock was lost.
		 */
		public enum Cause {

			/** The lease ended before it could be renewed or released. */
			EXPIRED,
			/** The store said that another owner has the lock, or none. */
			NOT_OWNER,
			/** Another owner had taken the lock before the release. */
			FOUND_AT_RELEASE,
			/** It was released by force. */
			FORCED,
			/** The application stopped while the work was still running. */
			STOPPED,
			/** The thread that held it through {@code asLock} ended without unlocking. */
			THREAD_ENDED

		}

	}

	/**
	 * A hold ended and the lock was not lost.
	 *
	 * @param key the key
	 * @param name the request's label, or null
	 * @param fencingToken the fencing token
	 * @param held time from the acquisition to the release
	 */
	record Released(String key, @Nullable String name, long fencingToken, Duration held) implements LockEvent {
	}

}
