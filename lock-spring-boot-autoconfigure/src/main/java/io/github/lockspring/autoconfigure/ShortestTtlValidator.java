package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.function.Supplier;

import io.github.lockspring.internal.interceptor.AdvisorChain;
import io.github.lockspring.internal.interceptor.LockOperation;
import io.github.lockspring.internal.interceptor.LockedMethodRule;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * Refuses annotations whose ttl is shorter than the store can give: each of their calls
 * would fail.
 *
 * @param traits the traits of the store; null if there is none
 */
record ShortestTtlValidator(Supplier<@Nullable StoreTraits> traits) implements LockedMethodRule {

	@Override
	public void validate(AdvisorChain chain) {
		LockOperation operation = chain.operation();
		Duration ttl = operation.request().ttl();
		StoreTraits present = (ttl != null) ? this.traits.get() : null;
		if (ttl != null && present != null && ttl.compareTo(present.shortestTtl()) < 0) {
			throw operation.error("ttl", PropertyChecks.text(ttl),
					"the store of this application cannot give less than " + PropertyChecks.text(present.shortestTtl()),
					"Choose at least that, or another store: docs/choose/stores.md says what each of them can give");
		}
	}

}
