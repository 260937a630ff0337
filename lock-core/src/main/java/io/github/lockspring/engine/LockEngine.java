package io.github.lockspring.engine;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.engine.support.EngineThreads;
import io.github.lockspring.engine.support.StoreClient;
import io.github.lockspring.engine.support.Time;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds locks in a {@link LockStore} for one instance of an application. Has no thread
 * and sends nothing while no lock is held or waited for; an inbox that was opened stays
 * open. Does not close the store: close it after the engine. Thread-safe.
 *
 * @since 0.1
 */
public final class LockEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private static final long CHECK_INTERVAL_NANOS = 5_000_000;

	private final KeyLockRegistry registry;

	private final DefaultLockTemplate template;

	private final EngineThreads threads;

	/**
	 * Creates an engine that is ready to be used.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listeners are told what happens
	 */
	public LockEngine(LockStore store, EngineSettings settings, List<LockListener> listeners) {
		this(store, settings, listeners, UnitOfWork.NONE);
	}

	/**
	 * Creates an engine whose locks may belong to units of work.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listeners are told what happens
	 * @param unitOfWork knows what locks belong to when a call takes them
	 */
	public LockEngine(LockStore store, EngineSettings settings, List<LockListener> listeners, UnitOfWork unitOfWork) {
		this.threads = new EngineThreads();
		this.registry = new KeyLockRegistry(store, settings, listeners, Time.SYSTEM, this.threads.dispatchers(),
				this.threads.events(), this.threads.watchdog());
		this.template = new DefaultLockTemplate(this.registry, unitOfWork);
	}

	/** Creates an engine whose clock and threads a test controls. */
	LockEngine(KeyLockRegistry registry) {
		this.threads = new EngineThreads();
		this.registry = registry;
		this.template = new DefaultLockTemplate(registry, UnitOfWork.NONE);
	}

	/**
	 * Returns what acquires locks.
	 * @return the template, always the same one
	 */
	public LockTemplate template() {
		return this.template;
	}

	/**
	 * Makes the engine usable again after {@link #stop()}.
	 */
	public void start() {
		this.threads.keepIdle(true);
		this.registry.setStopped(false);
		this.registry.setClosing(false);
	}

	/**
	 * Ends all waiting: from now on free locks are acquired, and others are busy at once,
	 * also for those who wait now.
	 */
	public void stopWaiting() {
		this.registry.setClosing(true);
	}

	/**
	 * Stops: waiting ends; work under a lock may end within the shutdown timeout; what is
	 * then still held is released and counts as lost. Returns within the shutdown timeout
	 * and about two command timeouts (and one more for each further server that does not
	 * answer), without threads of the engine. Does nothing the second time.
	 */
	public void stop() {
		if (this.registry.isStopped()) {
			return;
		}
		stopWaiting();
		awaitUntil(now() + this.registry.settings().shutdownTimeout().toNanos());
		this.registry.setStopped(true);
		releaseAll();
		this.registry.closeInbox();
		this.registry.dispatcher().awaitIdle(this.registry.settings().commandTimeout());
		this.registry.watchdog().wake();
		this.threads.keepIdle(false);
	}

	private void awaitUntil(long end) {
		while (!this.registry.isEmpty() && now() - end < 0 && !Thread.currentThread().isInterrupted()) {
			this.registry.time().park(this, CHECK_INTERVAL_NANOS);
		}
	}

	private void releaseAll() {
		List<ReleaseRequest> requests = new ArrayList<>();
		for (KeyLock lock : this.registry.locks()) {
			ReleaseRequest request = lock.surrender(now());
			if (request != null) {
				requests.add(request);
			}
		}
		if (requests.isEmpty()) {
			return;
		}
		logger.warn("{} lock(s) were still held when the application stopped and are released now, '{}' among them",
				requests.size(), requests.get(0).key());
		StoreClient client = this.registry.client();
		Set<String> silent = new HashSet<>();
		for (ReleaseRequest request : requests) {
			String shard = client.shard(request.key());
			if (silent.contains(shard)) {
				continue;
			}
			long sent = now();
			try {
				client.release(request, client.commandTimeout());
			}
			catch (LockUnavailableException ex) {
				logger.warn("Lock '{}' could not be released and will expire: {}", request.key(), ex.getMessage());
				if (now() - sent >= client.commandTimeout().toNanos()) {
					silent.add(shard);
				}
			}
		}
	}

	private long now() {
		return this.registry.time().nanoTime();
	}

	/**
	 * As {@link #stop()}.
	 */
	@Override
	public void close() {
		stop();
	}

	KeyLockRegistry registry() {
		return this.registry;
	}

	@Override
	public String toString() {
		return "LockEngine[" + this.registry.instance() + "]";
	}

}
