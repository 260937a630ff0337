package io.github.lockspring.model;

/**
 * How an acquire attempt waits.
 */
enum QueueMode {

	/** Does not wait. */
	NONE,
	/** First attempt of a token that waits. */
	JOIN,
	/** Later attempt. */
	REJOIN,
	/** Attempt of a token that polls. */
	POLL

}
