package io.github.lockspring.autoconfigure.observation;

import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import org.jspecify.annotations.Nullable;

/**
 * Names the observations of locks, and their values. A bean of this type overrides what
 * it wants to change; the rest stays as {@code docs/reference/meters.md} describes it.
 *
 * @since 0.1
 */
public interface LockObservationConvention extends ObservationConvention<LockObservationContext> {

	@Override
	default boolean supportsContext(Observation.Context context) {
		return context instanceof LockObservationContext;
	}

	@Override
	default @Nullable String getContextualName(LockObservationContext context) {
		return "lock " + context.getPhase().word() + " " + context.getLockName();
	}

	@Override
	default KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return KeyValues.of("lock.name", context.getLockName(), "lock.store", context.getStore(), "lock.outcome",
				context.getOutcome());
	}

}
