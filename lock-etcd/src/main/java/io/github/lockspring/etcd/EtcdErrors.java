package io.github.lockspring.etcd;

import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;

import io.github.lockspring.LockUnavailableException;

/**
 * Describes failures of etcd in sentences.
 */
final class EtcdErrors {

	private EtcdErrors() {
	}

	/** Some failures are told as a status of gRPC, and others as an exception of etcd. */
	static boolean isNotFound(Throwable failure) {
		return says(cause(failure), "lease not found");
	}

	private static boolean says(Throwable cause, String part) {
		return String.valueOf(cause.getMessage()).contains(part);
	}

	static LockUnavailableException unavailable(Throwable failure) {
		Throwable cause = cause(failure);
		if (cause instanceof LockUnavailableException known) {
			return known;
		}
		if (cause instanceof TimeoutException) {
			return new LockUnavailableException(
					"etcd did not answer in time: it is slow, cannot be reached, or has no leader", cause);
		}
		if (says(cause, "PERMISSION_DENIED") || says(cause, "permission denied") || says(cause, "UNAUTHENTICATED")
				|| says(cause, "authentication failed") || says(cause, "user name is empty")) {
			return new LockUnavailableException("etcd does not let this application use locks: " + cause.getMessage()
					+ ". Check the user, the password, and its role, which needs to read and write the keys of locks",
					cause, true);
		}
		return new LockUnavailableException("etcd cannot be used: " + cause.getMessage(), cause);
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
