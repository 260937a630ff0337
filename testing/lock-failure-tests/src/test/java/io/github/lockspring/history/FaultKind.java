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
	SERVER_STOPPED,
	/** The master is killed; it comes back as a replica after the failover. */
	MASTER_KILLED,
	/** The master stands still (SIGSTOP), and wakes after the failover. */
	MASTER_STOPPED,
	/** The master is killed when its replicas have heard nothing of it for a while. */
	MASTER_KILLED_AHEAD,
	/** A sentinel is killed, and started again. */
	SENTINEL_KILLED,
	/** A slot is moved to another node, and back. */
	SLOT_MOVED,
	/** One or two of several servers are killed, and started again without data. */
	NODES_KILLED,
	/** One or two of several servers stand still. */
	NODES_STOPPED,
	/** Nobody reaches one or two of several servers for a while. */
	NODES_CUT_OFF,
	/** Everything takes longer on the way to or from one or two of several servers. */
	NODES_SLOW,
	/**
	 * Two servers cannot be reached for a while, so that locks are on three of five; when
	 * they are back, one of the three is killed, and started again without data.
	 */
	NODE_FORGETS;

	/** Whether it happens to one worker or its connections, not to a server. */
	boolean isOnWorker() {
		return compareTo(BYTES_LATE) <= 0;
	}

}
