package io.github.lockspring.autoconfigure;

import io.github.lockspring.LockContext;
import io.github.lockspring.DistributedLock;

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
		return !LockContext.currentLocks().isEmpty();
	}

}
