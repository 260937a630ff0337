package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockUnavailableException;

/**
 * The master has done what it was asked to, and too few replicas know.
 */
final class TooFewReplicasException extends LockUnavailableException {

	private static final long serialVersionUID = 1L;

	private final transient List<?> renewed;

	TooFewReplicasException(long acknowledged, int wanted, Duration wait, List<?> renewed) {
		super("%d of %d replicas acknowledged the lock within %s".formatted(acknowledged, wanted,
				UnavailableTranslator.format(wait)));
		this.renewed = renewed;
	}

	/**
	 * What the master said to a renewal, lease by lease.
	 */
	List<Object> renewed() {
		return List.copyOf(this.renewed);
	}

}
