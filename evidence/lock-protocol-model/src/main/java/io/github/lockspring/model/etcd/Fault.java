package io.github.lockspring.model.etcd;

/**
 * What may go wrong, each a limited number of times in one scenario. That anything takes
 * any amount of time is no fault: it happens in every scenario.
 */
enum Fault {

	/** A request is late or lost, or its answer is lost. */
	LOSS,
	/** The client library sends an addition twice, and tells nobody. */
	REPETITION,
	/** Another leader is elected; the former one still answers keep-alives. */
	LEADER,
	/** A keep-alive of a revoked lease is answered with "renewed" (etcd#20590). */
	RENEWED_AFTER_END,
	/** A process is suspended for a tick. */
	SUSPENSION,
	/** An instance dies. */
	CRASH,
	/** A holder hangs: its work does not end, and nothing renews its hold. */
	HANG,
	/** What a watch should tell is lost. */
	WATCH,
	/** Somebody deletes an entry. */
	BY_HAND,
	/** The server's data are replaced by a backup. */
	RESTORE

}
