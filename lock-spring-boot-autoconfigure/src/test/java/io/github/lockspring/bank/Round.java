package io.github.lockspring.bank;

import org.jspecify.annotations.Nullable;

/**
 * What happened in a round.
 *
 * @param moment when it happened
 * @param harm what
 * @param overtaken whether another transfer of one of its accounts was committed while a
 * transfer was held up
 * @param outcome what became of the transfer that was held up; null if none was
 */
record Round(Moment moment, Harm harm, boolean overtaken, @Nullable Outcome outcome) {

	/**
	 * When something happens, as seen from a transfer.
	 */
	enum Moment {

		/** At any time. */
		ANYWHERE,
		/**
		 * A transfer has its locks, but no transaction yet, and no token was compared.
		 */
		BEFORE_TRANSACTION,
		/** A transfer has read both balances, and is about to write them. */
		IN_SECTION

	}

	/**
	 * What happens.
	 */
	enum Harm {

		/** A worker is stopped for longer than its leases last. */
		STOPPED,
		/** Redis loses its data. */
		FLUSHED,
		/** Redis is killed and comes back empty. */
		RESTARTED,
		/** Redis loses its data while a worker is stopped. */
		STOPPED_AND_FLUSHED;

		boolean stopsWorker() {
			return this == STOPPED || this == STOPPED_AND_FLUSHED;
		}

	}

	String kind() {
		return this.moment + "/" + this.harm;
	}

}
