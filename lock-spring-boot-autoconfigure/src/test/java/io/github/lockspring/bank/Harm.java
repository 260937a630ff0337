package io.github.lockspring.bank;

/**
 * What happens in a round.
 */
enum Harm {

	/** A worker is stopped for longer than its leases last. */
	STOPPED,

	/** Redis loses its data. */
	FLUSHED,

	/** Redis is killed and comes back empty. */
	RESTARTED,

	/** Redis loses its data while a worker stands still. */
	STOPPED_AND_FLUSHED;

	boolean stopsWorker() {
		return this == STOPPED || this == STOPPED_AND_FLUSHED;
	}

}
