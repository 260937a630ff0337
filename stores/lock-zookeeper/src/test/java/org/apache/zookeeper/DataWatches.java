package org.apache.zookeeper;

import java.util.List;

/**
 * The watches that a client would begin again after a reconnection, which only this
 * package can see.
 */
public final class DataWatches {

	private DataWatches() {
	}

	/**
	 * Returns the paths that are watched.
	 */
	public static List<String> of(ZooKeeper handle) {
		return handle.getDataWatches();
	}

}
