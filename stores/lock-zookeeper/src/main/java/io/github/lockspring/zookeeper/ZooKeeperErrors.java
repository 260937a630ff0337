package io.github.lockspring.zookeeper;

import io.github.lockspring.LockUnavailableException;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.KeeperException.Code;

/**
 * Converts failures of ZooKeeper into exceptions with a remedy.
 */
final class ZooKeeperErrors {

	private ZooKeeperErrors() {
	}

	/**
	 * Converts a failure.
	 * @param code the error code of the server or the client
	 * @param path the node, or empty
	 */
	static LockUnavailableException unavailable(int code, String path) {
		return unavailable(KeeperException.create(Code.get(code), path));
	}

	private static LockUnavailableException unavailable(KeeperException cause) {
		return switch (cause.code()) {
			case NOAUTH, AUTHFAILED, INVALIDACL, SESSIONCLOSEDREQUIRESASLAUTH -> new LockUnavailableException(
					"ZooKeeper does not let this application use " + cause.getPath() + ": " + cause.getMessage(),
					"Check distributed-lock.zookeeper.auth and the ACL of the nodes; locks need the rights"
							+ " to create, read, write and delete",
					cause, true);
			case CONNECTIONLOSS -> notConnected(cause);
			case UNIMPLEMENTED -> new LockUnavailableException(
					"This ZooKeeper is too old: containers need version 3.5.3 or later", cause, true);
			default -> new LockUnavailableException("ZooKeeper cannot be used: " + cause.getMessage(), cause);
		};
	}

	/** Servers without a quorum close connections without giving a reason. */
	static LockUnavailableException notConnected(Exception cause) {
		return new LockUnavailableException(
				"There is no connection to ZooKeeper: " + cause.getMessage()
						+ ". Its servers cannot be reached, or the ensemble has no quorum",
				"Check distributed-lock.zookeeper.connect-string and the servers", cause, false);
	}

	static LockUnavailableException unavailable(Throwable ex) {
		if (ex instanceof LockUnavailableException known) {
			return known;
		}
		return (ex instanceof KeeperException failure) ? unavailable(failure)
				: new LockUnavailableException("ZooKeeper cannot be used: " + ex, ex);
	}

}
