package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.internal.interceptor.AdvisorChain;
import io.github.lockspring.internal.interceptor.LockOperation;
import io.github.lockspring.internal.interceptor.LockedMethodRule;
import org.jspecify.annotations.Nullable;

/**
 * Refuses annotations whose lease is longer than the time for which a restarted node of
 * Redlock does not vote: each of their calls would fail.
 *
 * @param longest the longest lease
 */
record RedlockLeaseValidator(Duration longest) implements LockedMethodRule {

	@Override
	public void validate(AdvisorChain chain) {
		LockOperation operation = chain.operation();
		refuseIfLonger(operation, "ttl", operation.request().ttl());
		refuseIfLonger(operation, "minHold", operation.request().minHold());
	}

	private void refuseIfLonger(LockOperation operation, String attribute, @Nullable Duration lease) {
		if (lease != null && lease.compareTo(this.longest) > 0) {
			throw operation.error(attribute, PropertyChecks.text(lease),
					"it is longer than distributed-lock.redlock.max-ttl = " + PropertyChecks.text(this.longest)
							+ ", for which a restarted node does not vote",
					"Set that property to the longest lease, or make this lease shorter");
		}
	}

}
