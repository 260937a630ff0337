package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.function.Function;

import io.github.lockspring.LockLostException;
import io.github.lockspring.internal.KeyedLock;
import org.jspecify.annotations.Nullable;

/**
 * Several locks that one call has acquired.
 *
 * @param locks the lock of each key, at least two
 */
record CompositeHeldLock(List<DefaultHeldLock> locks) implements KeyedLock {

	@Override
	public String key() {
		return this.locks.get(0).key();
	}

	@Override
	public @Nullable String name() {
		return this.locks.get(0).name();
	}

	@Override
	public long fencingToken() {
		throw new IllegalStateException("Several keys are locked, and each has its own fencing token: use"
				+ " fencingToken(key). Keys: " + keys());
	}

	@Override
	public Duration remaining() {
		return this.locks.stream().map(KeyedLock::remaining).min(Comparator.naturalOrder()).orElse(Duration.ZERO);
	}

	@Override
	public boolean isHeld() {
		return this.locks.stream().allMatch(KeyedLock::isHeld);
	}

	@Override
	public void ensureHeld() {
		this.locks.forEach(KeyedLock::ensureHeld);
	}

	@Override
	public void verify() {
		this.locks.forEach(KeyedLock::verify);
	}

	@Override
	public void extend(Duration duration) {
		this.locks.forEach((lock) -> lock.extend(duration));
	}

	@Override
	public void close() {
		LockLostException lost = endAll(this.locks, (lock) -> lock.end(false) ? lock.lostException() : null);
		if (lost != null) {
			throw lost;
		}
	}

	/**
	 * Ends locks, last one first: all of them, even if one fails.
	 * @param end ends a lock, and returns its loss if the caller is to be told of it
	 * @return the losses, the first with the others suppressed into it; null if there is
	 * none
	 */
	static @Nullable LockLostException endAll(List<DefaultHeldLock> locks,
			Function<DefaultHeldLock, @Nullable LockLostException> end) {
		LockLostException lost = null;
		Throwable failure = null;
		for (int i = locks.size() - 1; i >= 0; i--) {
			DefaultHeldLock lock = locks.get(i);
			try {
				LockLostException next = end.apply(lock);
				lost = (next != null) ? first(lost, next) : lost;
			}
			catch (RuntimeException | Error ex) {
				lock.holderGone();
				failure = first(failure, ex);
			}
		}
		if (failure instanceof Error error) {
			throw error;
		}
		if (failure instanceof RuntimeException exception) {
			throw exception;
		}
		return lost;
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
