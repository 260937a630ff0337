package io.github.lockspring.engine;

import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * What the end of a hold means for its holder.
 *
 * @param outcome what the holder is told
 * @param request what is to be sent to the store: now, and then reported to
 * {@link KeyLock#released}, or in the background where the lock was lost; or null
 */
record HoldEnd(Outcome outcome, @Nullable ReleaseRequest request) {

	static final HoldEnd REPEATED = new HoldEnd(Outcome.REPEATED, null);

	static final HoldEnd HANDED_OFF = new HoldEnd(Outcome.ENDED, null);

	enum Outcome {

		/** It has ended before. */
		REPEATED,
		/** The lock was lost before the end. */
		LOST,
		/** It was held until now. */
		ENDED

	}

}
