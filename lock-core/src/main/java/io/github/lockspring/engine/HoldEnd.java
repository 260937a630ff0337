package io.github.lockspring.engine;

import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;

/**
 * What the end of a hold means for its holder.
 *
 * @param outcome what the holder is told
 * @param request what the holder has to send to the store, and to report to
 * {@link KeyLock#released}; or null
 */
record HoldEnd(Outcome outcome, @Nullable ReleaseRequest request) {

	static final HoldEnd REPEATED = new HoldEnd(Outcome.REPEATED, null);

	static final HoldEnd LOST = new HoldEnd(Outcome.LOST, null);

	/** The lock was handed off, or is released in the background. */
	static final HoldEnd ENDED = new HoldEnd(Outcome.ENDED, null);

	enum Outcome {

		/** It has ended before. */
		REPEATED,
		/** The lock was lost before the end. */
		LOST,
		/** It was held until now. */
		ENDED

	}

}
