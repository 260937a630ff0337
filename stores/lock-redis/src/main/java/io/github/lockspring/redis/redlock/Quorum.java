package io.github.lockspring.redis.redlock;

import java.util.List;

/**
 * The nodes of a lock store, and how many of them decide.
 *
 * @param nodes the nodes; an odd number
 */
record Quorum(List<RedlockNodeClient> nodes) {

	Quorum {
		nodes = List.copyOf(nodes);
	}

	int size() {
		return this.nodes.size();
	}

	int majority() {
		return size() / 2 + 1;
	}

	/**
	 * Whether so many nodes are a majority.
	 */
	boolean isReached(int nodes) {
		return nodes >= majority();
	}

	/**
	 * Whether no majority is possible without so many nodes.
	 */
	boolean isBlocked(int nodes) {
		return nodes > size() - majority();
	}

}
