package io.github.lockspring.benchmarks.micro;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.jspecify.annotations.Nullable;

/**
 * Runs the work and locks nothing: what is left is the advice. The request is published
 * to {@link #last}, so its creation cannot be optimised away.
 */
class NoLocks implements LockTemplate {

	private static final HeldLock NOTHING = new Nothing();

	/** Not volatile: a plain write is enough to make the request escape. */
	@Nullable LockRequest last;

	@Override
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		this.last = request;
		return work.doUnderLock(NOTHING);
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		return NOTHING;
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return Optional.of(NOTHING);
	}

	@Override
	public Lock asLock(String key) {
		throw new UnsupportedOperationException();
	}

	private record Nothing() implements HeldLock {

		@Override
		public List<String> keys() {
			return List.of("nothing");
		}

		@Override
		public long fencingToken(String key) {
			return 1;
		}

		@Override
		public long fencingToken() {
			return 1;
		}

		@Override
		public Duration remaining() {
			return Duration.ofDays(1);
		}

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public void ensureHeld() {
			// nothing can be lost
		}

		@Override
		public void extend(Duration duration) {
			// nothing ends
		}

		@Override
		public void close() {
			// nothing is held
		}

	}

}
