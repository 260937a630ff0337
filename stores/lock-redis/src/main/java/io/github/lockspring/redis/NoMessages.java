package io.github.lockspring.redis;

import io.github.lockspring.store.Inbox;

/**
 * The inbox of an instance whose driver cannot subscribe: its waiters poll.
 */
final class NoMessages implements Inbox {

	@Override
	public void open() {
		// never receives anything
	}

	@Override
	public boolean isConfirmed() {
		return false;
	}

	@Override
	public void close() {
		// see above
	}

}
