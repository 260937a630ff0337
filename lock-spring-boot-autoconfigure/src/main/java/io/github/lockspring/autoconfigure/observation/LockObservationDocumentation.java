package io.github.lockspring.autoconfigure.observation;

import java.util.Locale;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The observations of annotated methods and of {@code LockTemplate.execute}: two for each
 * call that is no re-entry.
 *
 * @since 0.1
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/**
	 * A call waits for its locks: from the request until all are acquired, or it gives
	 * up.
	 */
	WAIT,

	/**
	 * A call holds its locks: the work, and the release.
	 */
	HOLD;

	@Override
	public String getName() {
		return "distributed.lock." + name().toLowerCase(Locale.ROOT);
	}

	@Override
	public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
		return DefaultLockObservationConvention.class;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return LowCardinalityKeyNames.values();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return HighCardinalityKeyNames.values();
	}

	@Override
	public String getPrefix() {
		return "lock.";
	}

	private static String key(Enum<?> name) {
		return "lock." + name.name().toLowerCase(Locale.ROOT);
	}

	/**
	 * Values with few distinct ones.
	 */
	public enum LowCardinalityKeyNames implements KeyName {

		/**
		 * The label of the lock, of several keys that of the first one; {@code none}
		 * without one.
		 */
		NAME,

		/**
		 * The store: {@code redis}, {@code redlock}, {@code jdbc}, {@code memory} …
		 */
		STORE,

		/**
		 * How it ended: of a wait {@code acquired}, {@code busy}, {@code unavailable},
		 * {@code interrupted} or {@code error}; of a hold {@code released} or
		 * {@code lost}; {@code unknown} until then.
		 */
		OUTCOME;

		@Override
		public String asString() {
			return key(this);
		}

	}

	/**
	 * Values with many distinct ones, which only traces have.
	 */
	public enum HighCardinalityKeyNames implements KeyName {

		/**
		 * The keys, if {@code distributed-lock.observation.include-key} is true.
		 */
		KEY;

		@Override
		public String asString() {
			return key(this);
		}

	}

}
