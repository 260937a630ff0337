package io.github.lockspring.model;

/**
 * What the callers of an instance do, and whether messages reach it.
 */
enum Role {

	/** Callers wait, and messages reach the instance. */
	WAITS,
	/** As {@link #WAITS}, with further local callers all the time. */
	BUSY,
	/** Callers wait, and the instance has no inbox. */
	NO_INBOX,
	/** As {@link #NO_INBOX}, with further local callers all the time. */
	BUSY_NO_INBOX,
	/** Callers do not wait ({@code waitTime = 0}). */
	TRIES;

	boolean hasInbox() {
		return this != NO_INBOX && this != BUSY_NO_INBOX;
	}

	boolean isBusy() {
		return this == BUSY || this == BUSY_NO_INBOX;
	}

}
