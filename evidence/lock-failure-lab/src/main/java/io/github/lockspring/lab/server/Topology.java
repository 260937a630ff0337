package io.github.lockspring.lab.server;

/**
 * The servers that a run has.
 */
public enum Topology {

	/** One Redis server. */
	SINGLE(1),
	/** A master and a replica. */
	REPLICATED(2),
	/** Five independent servers. */
	REDLOCK(5),
	/** Only the database. */
	DATABASE(0);

	private final int servers;

	Topology(int servers) {
		this.servers = servers;
	}

	int servers() {
		return this.servers;
	}

}
