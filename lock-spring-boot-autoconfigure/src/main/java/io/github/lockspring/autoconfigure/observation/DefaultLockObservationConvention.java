package io.github.lockspring.autoconfigure.observation;

import java.util.Locale;
import java.util.stream.Collectors;

import io.github.lockspring.LockSpec;
import io.github.lockspring.autoconfigure.observation.LockObservationDocumentation.HighCardinalityKeyNames;
import io.github.lockspring.autoconfigure.observation.LockObservationDocumentation.LowCardinalityKeyNames;
import io.micrometer.common.KeyValues;

/**
 * The {@link LockObservationConvention} of an application without its own. Thread-safe.
 *
 * @since 0.1
 */
public class DefaultLockObservationConvention implements LockObservationConvention {

	private final boolean includeKey;

	/**
	 * Creates a convention.
	 * @param includeKey whether observations have the keys, which may be personal data
	 */
	public DefaultLockObservationConvention(boolean includeKey) {
		this.includeKey = includeKey;
	}

	@Override
	public String getContextualName(LockObservationContext context) {
		return "lock " + context.getPhase().name().toLowerCase(Locale.ROOT) + " " + name(context);
	}

	@Override
	public KeyValues getLowCardinalityKeyValues(LockObservationContext context) {
		return KeyValues.of(LowCardinalityKeyNames.NAME.withValue(name(context)),
				LowCardinalityKeyNames.STORE.withValue(context.getStore()),
				LowCardinalityKeyNames.OUTCOME.withValue(context.getOutcome()));
	}

	@Override
	public KeyValues getHighCardinalityKeyValues(LockObservationContext context) {
		return !this.includeKey ? KeyValues.empty() : KeyValues.of(HighCardinalityKeyNames.KEY
			.withValue(context.getRequest().locks().stream().map(LockSpec::key).collect(Collectors.joining(", "))));
	}

	private static String name(LockObservationContext context) {
		String name = context.getRequest().locks().get(0).name();
		return (name != null) ? name : "none";
	}

}
