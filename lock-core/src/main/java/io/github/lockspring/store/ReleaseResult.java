package io.github.lockspring.store;

/**
 * The result of a {@link ReleaseRequest}.
 *
 * @since 0.1
 */
public sealed interface ReleaseResult {

	/**
	 * The token owned the lock and does not own it any more, or only for the requested
	 * {@link ReleaseRequest#keep() time}. The store may have handed the lock over to a
	 * waiter.
	 */
	record Released() implements ReleaseResult {
	}

	/**
	 * The token did not own the lock. Nothing was changed except that it has left the
	 * queue.
	 *
	 * @param fencingToken the largest fencing token issued for the key, or for several
	 * keys that share it; 0 if not known. If it is larger than that of the request's
	 * owner, another owner may have held the lock
	 */
	record NotOwner(long fencingToken) implements ReleaseResult {

		/**
		 * Returns the result of a request that may have been sent repeatedly. Its first
		 * execution may have released the lock, for another owner whose fencing token is
		 * then no sign of a loss.
		 * @param fencingToken the largest fencing token issued for the key
		 * @param sends how often the request was sent
		 * @return the result, without the fencing token if it was sent more than once
		 */
		public static NotOwner of(long fencingToken, int sends) {
			return new NotOwner((sends > 1) ? 0 : fencingToken);
		}

	}

}
