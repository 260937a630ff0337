package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Comparator;
import java.util.List;

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
		Endings endings = new Endings();
		for (int i = this.locks.size() - 1; i >= 0; i--) {
			endings.end(this.locks.get(i), true, false);
		}
		LockLostException lost = endings.lost();
		if (lost != null) {
			throw lost;
		}
	}

}
