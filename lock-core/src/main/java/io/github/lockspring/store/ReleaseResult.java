package io.github.lockspring.store;

/**
 * The answer to a {@link ReleaseRequest}.
 */
public sealed interface ReleaseResult {

	/**
	 * The token owned the lock, and now it does not, or only for the time it was to be
	 * kept. Whether somebody in the queue got it is the store's affair.
	 */
	record Released() implements ReleaseResult {
	}

	/**
	 * The token did not own the lock; nothing was changed but its place in the queue.
	 *
	 * @param fencingToken the largest fencing token given out for the key, 0 if not known
	 */
	record NotOwner(long fencingToken) implements ReleaseResult {
	}

}
