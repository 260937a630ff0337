package io.github.lockspring.etcd;

import java.net.ConnectException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.github.lockspring.LockUnavailableException;

/**
 * Converts failures of etcd into exceptions with a remedy.
 */
final class EtcdErrors {

	private static final String CHECK = "Check distributed-lock.etcd.endpoints and the servers";

	private EtcdErrors() {
	}

	/**
	 * Returns whether no server has replied. An error of an etcd server begins with
	 * "etcdserver:", even if the server has no leader.
	 */
	static boolean isSilence(Throwable failure) {
		Throwable cause = cause(failure);
		// a watch gets the code only, a request the name of the code
		boolean unavailable = contains(cause, "UNAVAILABLE")
				|| (cause instanceof EtcdException known && known.getErrorCode() == ErrorCode.UNAVAILABLE);
		return cause instanceof TimeoutException || (unavailable && !contains(cause, "etcdserver:"));
	}

	/** Returns whether another member may answer. Also takes what it was converted to. */
	static boolean isOfMember(Throwable failure) {
		Throwable sent = sent(failure);
		return isSilence(sent) || contains(sent, "no leader") || contains(sent, "request timed out")
				|| contains(sent, "server stopped");
	}

	/**
	 * Returns whether nothing has replied in time. Also takes what it was converted to.
	 */
	static boolean isTimeout(Throwable failure) {
		return sent(failure) instanceof TimeoutException;
	}

	/** Returns what a request has failed with, before it was converted. */
	private static Throwable sent(Throwable failure) {
		Throwable cause = cause(failure);
		return (cause instanceof LockUnavailableException && cause.getCause() != null) ? cause.getCause() : cause;
	}

	/** Returns whether there was no connection, so that nothing was sent. */
	static boolean isRefused(Throwable failure) {
		for (Throwable each = failure; each != null; each = each.getCause()) {
			if (each instanceof ConnectException) {
				return true;
			}
		}
		return false;
	}

	/**
	 * Returns whether the lease of a request is gone, by a status of gRPC or an exception
	 * of etcd.
	 */
	static boolean isNoLease(Throwable failure) {
		return contains(cause(failure), "lease not found");
	}

	private static boolean contains(Throwable cause, String part) {
		return reason(cause).contains(part);
	}

	static LockUnavailableException unavailable(Throwable failure) {
		Throwable cause = cause(failure);
		if (cause instanceof LockUnavailableException known) {
			return known;
		}
		if (cause instanceof TimeoutException) {
			return new LockUnavailableException(
					"etcd did not reply in time: it is slow, cannot be reached, or has no leader", CHECK, cause, false);
		}
		if (contains(cause, "authentication is not enabled")) {
			return new LockUnavailableException("etcd does not use authentication: " + reason(cause),
					"Leave out distributed-lock.etcd.username and password, or check the address", cause, true);
		}
		if (contains(cause, "permission denied") || contains(cause, "authentication failed")
				|| contains(cause, "user name is empty")) {
			return new LockUnavailableException("etcd does not let this application use locks: " + reason(cause),
					"Check distributed-lock.etcd.username and password, and the role of the user, which needs to read"
							+ " and write the keys that begin with distributed-lock.key-prefix",
					cause, true);
		}
		return new LockUnavailableException("etcd cannot be used: " + reason(cause), CHECK, cause, false);
	}

	/**
	 * Joins the messages of all causes, since a gRPC status hides those of the server,
	 * the network or TLS. A failed login is UNAUTHENTICATED for any reason, even an
	 * outage.
	 */
	private static String reason(Throwable failure) {
		StringBuilder reason = new StringBuilder();
		for (Throwable each = failure; each != null; each = each.getCause()) {
			String said = String.valueOf(each.getMessage()).lines().findFirst().orElse("");
			if (reason.indexOf(said) < 0) {
				reason.append(reason.isEmpty() ? "" : ": ").append(said);
			}
		}
		return reason.toString();
	}

	private static Throwable cause(Throwable failure) {
		Throwable cause = failure;
		while ((cause instanceof CompletionException || cause instanceof ExecutionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return cause;
	}

}
