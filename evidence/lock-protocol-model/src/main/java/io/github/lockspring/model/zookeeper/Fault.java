package io.github.lockspring.model.zookeeper;

/**
 * What may go wrong, each a limited number of times in one scenario.
 */
enum Fault {

	/** A connection is lost, and what is on its way is late or lost. */
	CONNECTION,
	/** As {@link #CONNECTION}, and the server has not reported what it had heard. */
	SERVER,
	/** A process gives its session up and begins another one. */
	GIVEN_UP,
	/** A process is suspended for a tick. */
	SUSPENSION,
	/** What a watch should tell is lost. */
	WATCH,
	/** Somebody deletes a node. */
	BY_HAND,
	/** An instance dies. */
	CRASH

}
