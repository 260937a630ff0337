package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.interceptor.AdvisorChain;
import io.github.lockspring.interceptor.AdvisorOrderRule;
import org.jspecify.annotations.Nullable;

/**
 * Refuses annotations that ask for longer leases than nodes of Redlock are kept from
 * voting after a restart: each call would fail.
 */
class RedlockLeaseRule implements AdvisorOrderRule {

	private final Duration longest;

	RedlockLeaseRule(Duration longest) {
		this.longest = longest;
	}

	@Override
	public void validate(AdvisorChain chain) {
		refuseIfLonger(chain, "ttl", chain.operation().lock().ttl());
		refuseIfLonger(chain, "minHold", chain.operation().lock().minHold());
	}

	private void refuseIfLonger(AdvisorChain chain, String attribute, @Nullable Duration lease) {
		if (lease != null && lease.compareTo(this.longest) > 0) {
			throw chain.operation()
				.error(attribute, Limits.text(lease),
						"it is longer than distributed-lock.redlock.longest-ttl = " + Limits.text(this.longest)
								+ ", after which nodes that lost their data in a restart vote again",
						"Make that property as long as the longest lease, or this lease shorter");
		}
	}

}
