package io.github.lockspring.zookeeper;

import java.util.concurrent.CompletionException;

import io.github.lockspring.LockUnavailableException;
import org.apache.zookeeper.KeeperException;

/**
 * Converts failures of ZooKeeper into exceptions with a remedy.
 */
final class ZooKeeperErrors {

	private ZooKeeperErrors() {
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

	/** Converts what a request has failed with. */
	static LockUnavailableException unavailable(Throwable ex) {
		Throwable cause = cause(ex);
		if (cause instanceof LockUnavailableException known) {
			return known;
		}
		return (cause instanceof KeeperException failure) ? unavailable(failure)
				: new LockUnavailableException("ZooKeeper cannot be used: " + cause, cause);
	}

	/** Returns whether it is unknown if a request was executed. */
	static boolean isConnectionLoss(Throwable ex) {
		return cause(ex) instanceof KeeperException.ConnectionLossException;
	}

	/** Returns whether a request has failed because its session has ended. */
	static boolean isExpired(Throwable ex) {
		return cause(ex) instanceof KeeperException.SessionExpiredException;
	}

	static Throwable cause(Throwable ex) {
		return (ex instanceof CompletionException && ex.getCause() != null) ? ex.getCause() : ex;
	}

}
