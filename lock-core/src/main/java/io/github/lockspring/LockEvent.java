package io.github.lockspring;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

/**
 * An application event about a lock of this process. Receive it in an
 * {@code @EventListener} method with a parameter of this type or of one of its subtypes.
 * Re-entry publishes no event.
 * <p>
 * Listeners run on the thread that acquires or releases the lock, or on a separate thread
 * if the lock was lost; they should return quickly. If a listener throws, the exception
 * is logged and the lock is not affected, but the listeners after it are not called, as
 * with every application event. Applications must not implement these interfaces, since
 * methods may be added.
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
	 * Returns the name of the request, a label with few distinct values.
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
		 * Returns the cause of the loss.
		 * @return the cause
		 */
		Cause cause();

		/**
		 * Describes the loss as text.
		 * @return a clause without a full stop
		 */
		String reason();

		/**
		 * The cause of a loss.
		 */
		enum Cause {

			/** The lease ended before it could be renewed or released. */
			EXPIRED,
			/** The store replied that another owner has the lock, or none. */
			NOT_OWNER,
			/** Another owner may have had the lock before the release. */
			FOUND_AT_RELEASE,
			/** The lock was released by force. */
			FORCED,
			/** The application stopped while the work was still running. */
			STOPPED,
			/**
			 * The thread that held the lock through {@code asLock} ended without
			 * unlocking.
			 */
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
