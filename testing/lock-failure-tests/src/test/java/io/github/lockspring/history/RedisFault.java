package io.github.lockspring.history;

import io.github.lockspring.testsupport.history.Fault;

/**
 * What happens to servers in a history on Redis.
 */
enum RedisFault implements Fault {

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
	/** As before, with the sentinel that clients ask first. */
	MASTER_AND_SENTINEL_STOPPED,
	/** The master is killed when its replicas have heard nothing of it for a while. */
	MASTER_KILLED_AHEAD,
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
	NODE_FORGETS

}
