package io.github.lockspring.internal.engine;

import io.github.lockspring.LockLostException;
import org.jspecify.annotations.Nullable;

/**
 * Ends several locks: all of them, even if one fails. Collects the losses and failures
 * for the caller. For one thread.
 */
final class Endings {

	private @Nullable LockLostException lost;

	private @Nullable Throwable failure;

	/**
	 * Ends the use of a lock.
	 * @param last whether it is the last use, with which the lock ends
	 * @param inBackground whether its release is left to the background
	 */
	void end(DefaultHeldLock lock, boolean last, boolean inBackground) {
		try {
			boolean isLost = last ? lock.end(inBackground) : !lock.isHeld();
			if (isLost) {
				this.lost = first(this.lost, lock.lostException());
			}
		}
		catch (RuntimeException | Error ex) {
			lock.holderGone();
			this.failure = first(this.failure, ex);
		}
	}

	/**
	 * Returns the losses, the first with the others suppressed into it; null if there is
	 * none. Throws the failure instead, if there was one.
	 */
	@Nullable LockLostException lost() {
		if (this.failure instanceof Error error) {
			throw error;
		}
		if (this.failure instanceof RuntimeException exception) {
			throw exception;
		}
		return this.lost;
	}

	/** Suppresses into the first of several exceptions the next one. */
	static <X extends Throwable> X first(@Nullable X first, X next) {
		if (first == null) {
			return next;
		}
		// a JVM without memory throws the same error again
		if (first != next) {
			first.addSuppressed(next);
		}
		return first;
	}

}
