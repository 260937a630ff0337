package io.github.lockspring.internal.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.base.CallChain;
import org.jspecify.annotations.Nullable;

/**
 * Says what it was asked for, and has some locks busy.
 */
class RecordingLocks implements LockTemplate {

	final List<LockRequest> requests = new CopyOnWriteArrayList<>();

	final Set<String> busy = ConcurrentHashMap.newKeySet();

	volatile boolean everythingBusy;

	volatile boolean unavailable;

	List<String> lastKeys() {
		return last().keys();
	}

	LockRequest last() {
		return this.requests.get(this.requests.size() - 1);
	}

	@Override
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		this.requests.add(request);
		if (this.unavailable) {
			throw new LockUnavailableException("The store does not respond");
		}
		for (String key : request.keys()) {
			if (this.everythingBusy || this.busy.contains(key)) {
				throw new LockNotAcquiredException(key, "Lock '%s' (%s)".formatted(key, request.nameOf(key)));
			}
		}
		List<Held> locks = request.keys().stream().map(Held::new).toList();
		try (CallChain.Scope scope = CallChain.open(locks.get(0), locks)) {
			return work.doUnderLock(locks.get(0));
		}
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		throw new UnsupportedOperationException();
	}

	@Override
	public Lock asLock(String key) {
		throw new UnsupportedOperationException();
	}

	private record Held(String key) implements KeyedLock {

		@Override
		public @Nullable String name() {
			return null;
		}

		@Override
		public List<KeyedLock> locks() {
			return List.of(this);
		}

		@Override
		public long fencingToken() {
			return 1;
		}

		@Override
		public Duration remaining() {
			return Duration.ofSeconds(1);
		}

		@Override
		public boolean isHeld() {
			return true;
		}

		@Override
		public void ensureHeld() {
		}

		@Override
		public void verify() {
		}

		@Override
		public void extend(Duration duration) {
		}

		@Override
		public void close() {
		}

	}

}
