package io.github.lockspring.internal.engine;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.LockRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of calls that ask for a lease of their own although the call chain holds the
 * lock: it has no effect. Once for each label, or key without one. Thread-safe.
 */
final class ReentryWarnings {

	private static final Logger logger = LoggerFactory.getLogger(ReentryWarnings.class);

	/** Keys are without end. */
	private static final int MAX_WARNINGS = 100;

	private final Set<String> warned = ConcurrentHashMap.newKeySet();

	/**
	 * A call enters a lock again.
	 * @param request what it has requested
	 * @param inner the same with the defaults
	 * @param outer the lock that it enters
	 */
	void entered(LockRequest request, LockParameters inner, DefaultHeldLock outer) {
		LockParameters present = outer.parameters();
		boolean otherTtl = request.ttl() != null && !inner.ttl().equals(present.ttl());
		if ((otherTtl || inner.renew() != present.renew()) && isNew(inner)) {
			LockMessages.about(logger.atWarn(), inner, outer.fencingToken())
				.log("{} is entered again with {}, which has no effect: the call that acquired it has {}. Give both"
						+ " the same ttl and renew. Further calls of this kind are not reported",
						LockMessages.lock(inner), LockMessages.lease(inner), LockMessages.lease(present));
		}
	}

	private boolean isNew(LockParameters inner) {
		String label = (inner.name() != null) ? inner.name() : inner.key();
		return this.warned.size() < MAX_WARNINGS && this.warned.add(label);
	}

}
