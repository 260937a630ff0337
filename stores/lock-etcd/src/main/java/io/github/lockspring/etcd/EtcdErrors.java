package io.github.lockspring.etcd;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.etcd.jetcd.common.exception.ErrorCode;
import io.etcd.jetcd.common.exception.EtcdException;
import io.github.lockspring.LockUnavailableException;

/**
 * Describes failures of etcd in sentences.
 */
final class EtcdErrors {

	private static final String CHECK = "Check distributed-lock.etcd.endpoints and the servers";

	private EtcdErrors() {
	}

	/**
	 * Returns another result where the request failed because its lease is gone. Some
	 * failures are told as a status of gRPC, and others as an exception of etcd.
	 */
	static <T> CompletionStage<T> ifNoLease(CompletionStage<T> result, Supplier<CompletionStage<T>> instead) {
		return result.exceptionallyCompose(
				(ex) -> says(cause(ex), "lease not found") ? instead.get() : CompletableFuture.failedFuture(ex));
	}

	/**
	 * Returns whether no server has answered. What a server of etcd says, also that it
	 * has no leader, begins with its name.
	 */
	static boolean isSilence(Throwable failure) {
		Throwable cause = cause(failure);
		// a watch is told the code alone, and a request its name
		boolean unavailable = says(cause, "UNAVAILABLE")
				|| (cause instanceof EtcdException known && known.getErrorCode() == ErrorCode.UNAVAILABLE);
		return cause instanceof TimeoutException || (unavailable && !says(cause, "etcdserver:"));
	}

	private static boolean says(Throwable cause, String part) {
		return reason(cause).contains(part);
	}

	static LockUnavailableException unavailable(Throwable failure) {
		Throwable cause = cause(failure);
		if (cause instanceof LockUnavailableException known) {
			return known;
		}
		if (cause instanceof TimeoutException) {
			return new LockUnavailableException(
					"etcd did not answer in time: it is slow, cannot be reached, or has no leader", CHECK, cause,
					false);
		}
		if (says(cause, "authentication is not enabled")) {
			return new LockUnavailableException("etcd knows no users: " + reason(cause),
					"Leave out distributed-lock.etcd.username and password, or check the address", cause, true);
		}
		if (says(cause, "permission denied") || says(cause, "authentication failed")
				|| says(cause, "user name is empty")) {
			return new LockUnavailableException("etcd does not let this application use locks: " + reason(cause),
					"Check distributed-lock.etcd.username and password, and the role of the user, which needs to read"
							+ " and write the keys that begin with distributed-lock.key-prefix",
					cause, true);
		}
		return new LockUnavailableException("etcd cannot be used: " + reason(cause), CHECK, cause, false);
	}

	/**
	 * A status of gRPC says little: what the server, the network or TLS says is below it.
	 * A login that fails is UNAUTHENTICATED whatever the reason, an outage included.
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
