package io.github.lockspring.model;

/**
 * What may go wrong, each a limited number of times in one scenario. That anything takes
 * any amount of time is no fault: it happens in every scenario.
 */
enum Fault {

	/** A command, a result or a message is lost, late or doubled. */
	LOSS,
	/** An instance dies. */
	CRASH,
	/** An instance is no longer subscribed to its inbox. */
	SUBSCRIPTION,
	/** The store loses all its data. */
	DATA_LOSS,
	/** The server's clock does not advance between two scripts. */
	CLOCK,
	/** A client without the protocol takes the lock, with {@code SET NX PX}. */
	PLAIN_CLIENT

}
