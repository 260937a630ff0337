package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.interceptor.LockAdvice;
import io.github.lockspring.interceptor.LockAdviceRule;
import org.jspecify.annotations.Nullable;

/**
 * Refuses annotations that ask for longer leases than nodes of Redlock are kept from
 * voting after a restart: each call would fail.
 */
class RedlockLeaseRule implements LockAdviceRule {

	private final Duration longest;

	RedlockLeaseRule(Duration longest) {
		this.longest = longest;
	}

	@Override
	public void check(LockAdvice advice) {
		refuseIfLonger(advice, "ttl", advice.operation().ttl());
		refuseIfLonger(advice, "minHold", advice.operation().minHold());
	}

	private void refuseIfLonger(LockAdvice advice, String attribute, @Nullable Duration lease) {
		if (lease != null && lease.compareTo(this.longest) > 0) {
			throw new LockDefinitionException(advice.method(), attribute, Limits.text(lease),
					"it is longer than distributed-lock.redlock.longest-ttl = " + Limits.text(this.longest)
							+ ", after which nodes that lost their data in a restart vote again",
					"Make that property as long as the longest lease, or this lease shorter", null);
		}
	}

}
