package io.github.lockspring;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * What happened to a lock of this process, published as an application event: a method
 * with {@code @EventListener} and a parameter of this type or of one of its kinds is
 * called. A re-entry is no event.
 * <p>
 * Listeners are called on the thread that acquires or releases, and for a loss on a
 * separate thread; they should return quickly. An exception of a listener is logged and
 * changes nothing for the lock; as with every application event, listeners after it are
 * then not called. Applications do not implement these interfaces, which may get further
 * methods.
 *
 * @since 0.1
 */
public interface LockEvent {

	/**
	 * Returns the key.
	 * @return the key, without the store's prefix
	 */
	String key();

	/**
	 * Returns the label of the request, which has few distinct values.
	 * @return the name, or null if the request gave none
	 */
	@Nullable String name();

	/**
	 * The lock was acquired.
	 */
	interface Acquired extends LockEvent {

		/**
		 * Returns the fencing token.
		 * @return the token
		 */
		long fencingToken();

		/**
		 * Returns the time from the request to the acquisition.
		 * @return the time
		 */
		Duration waited();

	}

	/**
	 * The lock was busy for the whole wait time.
	 */
	interface NotAcquired extends LockEvent {

		/**
		 * Returns the time from the request to giving up.
		 * @return the time
		 */
		Duration waited();

	}

	/**
	 * The store could not be reached within the wait time.
	 */
	interface Unavailable extends LockEvent {

		/**
		 * Returns the time from the request to giving up.
		 * @return the time
		 */
		Duration waited();

		/**
		 * Returns the failure of the store or its driver.
		 * @return the cause
		 */
		Throwable cause();

	}

	/**
	 * A held lock was lost. Published as soon as the loss is known.
	 */
	interface Lost extends LockEvent {

		/**
		 * Returns the fencing token of the hold that lost the lock.
		 * @return the token
		 */
		long fencingToken();

		/**
		 * Returns the time from the acquisition to the loss.
		 * @return the time
		 */
		Duration held();

		/**
		 * Returns what was observed.
		 * @return the cause
		 */
		Cause cause();

		/**
		 * Returns what was observed, as text.
		 * @return a clause without a full stop
		 */
		String reason();

		/**
		 * What was observed when a lock was lost.
		 */
		enum Cause {

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
	 */
	interface Released extends LockEvent {

		/**
		 * Returns the fencing token.
		 * @return the token
		 */
		long fencingToken();

		/**
		 * Returns the time from the acquisition to the release.
		 * @return the time
		 */
		Duration held();

	}

}
