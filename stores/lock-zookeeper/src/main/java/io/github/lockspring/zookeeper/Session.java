package io.github.lockspring.zookeeper;

import org.apache.zookeeper.ZooKeeper;

/**
 * A session. Its handle never gets another one, so what is sent through it never touches
 * what belongs to the next session. Thread-safe.
 */
final class Session {

	private final ZooKeeper handle;

	private long proven;

	private boolean used;

	Session(ZooKeeper handle) {
		this.handle = handle;
	}

	ZooKeeper handle() {
		return this.handle;
	}

	long id() {
		return this.handle.getSessionId();
	}

	boolean isOver() {
		return !this.handle.getState().isAlive();
	}

	/**
	 * A write was sent at the given time and has been carried out: the leader had the
	 * session then.
	 */
	synchronized void wrote(long sent) {
		if (!this.used || sent - this.proven > 0) {
			this.proven = sent;
			this.used = true;
		}
	}

	/**
	 * Returns until when the session certainly lasts. When a server loses its leader,
	 * that has not been told what the server heard in the last half tick; before that,
	 * the client may have been silent for a third of the timeout, after which it sends a
	 * ping. Half of the timeout is enough for both as long as a tick is at most a third
	 * of it.
	 */
	synchronized long validUntil() {
		return this.used ? this.proven + lease(this.handle.getSessionTimeout()) : System.nanoTime();
	}

	/**
	 * Returns the longest lease of a session.
	 * @param timeoutMillis its timeout
	 * @return nanoseconds
	 */
	static long lease(long timeoutMillis) {
		return timeoutMillis * 1_000_000 / 2;
	}

}
