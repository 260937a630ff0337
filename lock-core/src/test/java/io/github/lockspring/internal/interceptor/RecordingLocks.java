package io.github.lockspring.internal.interceptor;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.jspecify.annotations.Nullable;

/**
 * The locks of an engine, which remember what annotated methods ask for, and can all be
 * busy or unavailable.
 */
class RecordingLocks implements LockTemplate, AutoCloseable {

	private static final EngineSettings DEFAULTS = EngineSettings.defaults();

	final LockEngine engine = new LockEngine(new MemoryLockStore(), new EngineSettings(DEFAULTS.ttl(),
			DEFAULTS.waitTime(), null, DEFAULTS.commandTimeout(), Duration.ofSeconds(1), false), LockEvents.NOBODY);

	final List<LockRequest> requests = new CopyOnWriteArrayList<>();

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
		if (this.everythingBusy) {
			String key = request.keys().get(0);
			throw new LockNotAcquiredException(key, "Lock '%s' (%s)".formatted(key, request.nameOf(key)));
		}
		return this.engine.template().execute(request, work);
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		return this.engine.template().acquire(request);
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		return this.engine.template().tryAcquire(request);
	}

	@Override
	public Lock asLock(String key) {
		return this.engine.template().asLock(key);
	}

	@Override
	public void close() {
		this.engine.close();
	}

}
