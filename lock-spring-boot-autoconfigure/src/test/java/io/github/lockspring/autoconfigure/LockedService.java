package io.github.lockspring.autoconfigure;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;

/**
 * Something to lock.
 */
public class LockedService {

	/**
	 * Works under a lock, or not.
	 * @return whether it did
	 */
	@DistributedLock(name = "locked-service", key = "'work'")
	public boolean work() {
		return !CallChain.currentLocks(KeyedLock.class).isEmpty();
	}

}
