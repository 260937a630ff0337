package io.github.lockspring.history;

/**
 * What goes wrong in a history test.
 */
enum FaultKind {

	/** A worker is killed, and started again after a while. */
	WORKER_KILLED,
	/** A worker stands still (SIGSTOP) for longer than most leases. */
	WORKER_STOPPED,
	/** A worker's connections end, with FIN or RST. */
	CONNECTIONS_CUT,
	/** A worker's connections end and it cannot connect for a while. */
	CONNECTIONS_REFUSED,
	/** What a worker sends, or is sent, or both, is lost for a while. */
	BYTES_LOST,
	/** What a worker sends, or is sent, or both, arrives late. */
	BYTES_LATE,
	/** CLIENT KILL TYPE normal. */
	CLIENTS_KILLED,
	/** CLIENT KILL TYPE pubsub. */
	SUBSCRIBERS_KILLED,
	/** SCRIPT FLUSH. */
	SCRIPTS_FLUSHED,
	/** FLUSHALL. */
	DATA_FLUSHED,
	/** The server is killed, and started again without data, at once or after a while. */
	SERVER_RESTARTED_EMPTY,
	/** The server stands still (SIGSTOP). */
	SERVER_STOPPED;

	/** Whether it happens to one worker or its connections, not to a server. */
	boolean isOnWorker() {
		return compareTo(BYTES_LATE) <= 0;
	}

}
