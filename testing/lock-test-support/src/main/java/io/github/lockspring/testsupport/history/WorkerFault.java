package io.github.lockspring.testsupport.history;

/**
 * The faults of one worker or its connections, on each store.
 *
 * @since 0.1
 */
public enum WorkerFault implements Fault {

	/** It is killed, and started again after a while. */
	WORKER_KILLED,
	/** It stands still (SIGSTOP) for longer than most leases. */
	WORKER_STOPPED,
	/** Its connections end, with FIN or RST. */
	CONNECTIONS_CUT,
	/** Its connections end and it cannot connect for a while. */
	CONNECTIONS_REFUSED,
	/** What it sends, or is sent, or both, is lost for a while. */
	BYTES_LOST,
	/** What it sends, or is sent, or both, arrives late. */
	BYTES_LATE

}
