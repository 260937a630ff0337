package io.github.lockspring.autoconfigure.observation;

import io.github.lockspring.DistributedLock;

/**
 * Something to measure.
 */
public class MeteredService {

	@DistributedLock(name = "order", key = "#id", ttl = "30s", renew = true)
	public void ship(String id, Runnable work) {
		work.run();
	}

	@DistributedLock(key = "'report'")
	public void report() {
	}

}
