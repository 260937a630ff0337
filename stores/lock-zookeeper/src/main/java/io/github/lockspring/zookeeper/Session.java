package io.github.lockspring.zookeeper;

import org.apache.zookeeper.ZooKeeper;

/**
 * A session. Its handle never starts another session, so requests sent through it never
 * affect the nodes of the next one. A lock of a session that is over is lost at its next
 * renewal: {@link ZooKeeperServer} answers that the token is not the owner, since the
 * node belongs to another session than the present one. Thread-safe.
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
	 * Records a successful write, sent at the given time: the session existed on the
	 * leader then.
	 */
	synchronized void wrote(long sent) {
		if (!this.used || sent - this.proven > 0) {
			this.proven = sent;
			this.used = true;
		}
	}

	/**
	 * Returns the time until which the session is certain to last. A server that loses
	 * its leader may not have reported what it heard during the last half tick. Before
	 * that, the client may have been silent for a third of the timeout, after which it
	 * sends a ping. Half of the timeout covers both if a tick is at most a third of the
	 * timeout.
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
