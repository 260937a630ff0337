package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.engine.support.EngineThreads;
import io.github.lockspring.engine.support.LockRecorder;
import io.github.lockspring.engine.support.StoreClient;
import io.github.lockspring.engine.support.Time;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds locks in a {@link LockStore} for one instance of an application. Has no thread
 * and sends nothing while no lock is held or waited for; an inbox that was opened stays
 * open. Does not close the store: close it after the engine. Thread-safe.
 * <p>
 * For maintainers: a registry is one instance, with an identity of its own that is part
 * of its owner tokens. It is created by the first call that needs one, and its stop is
 * final: {@link #start()} drops it, and what was under way in it ends without a lock. So
 * an image of the process that was taken between a stop and a start, or before the first
 * lock, contains no identity, and may be restored any number of times.
 *
 * @since 0.1
 */
public final class LockEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private static final long CHECK_INTERVAL_NANOS = 5_000_000;

	private final Supplier<KeyLockRegistry> instances;

	private final ReentrantLock changing = new ReentrantLock();

	/** Null until it is needed. Written under {@code changing}. */
	private volatile @Nullable KeyLockRegistry registry;

	private final DefaultLockTemplate template;

	private final EngineThreads threads;

	private final Runnable connect;

	/**
	 * Creates an engine that is ready to be used.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listeners are told what happens
	 */
	public LockEngine(LockStore store, EngineSettings settings, List<LockListener> listeners) {
		this(store, settings, listeners, UnitOfWork.NONE, LockRecorder.NONE);
	}

	/**
	 * Creates an engine whose locks may belong to units of work, and which is measured.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listeners are told what happens
	 * @param unitOfWork knows what locks belong to when a call takes them
	 * @param recorder receives what is measured
	 */
	public LockEngine(LockStore store, EngineSettings settings, List<LockListener> listeners, UnitOfWork unitOfWork,
			LockRecorder recorder) {
		this.threads = new EngineThreads();
		this.instances = () -> new KeyLockRegistry(store, settings, listeners, recorder, Time.SYSTEM,
				this.threads.dispatchers(), this.threads.events(), this.threads.watchdog());
		this.template = new DefaultLockTemplate(this::registry, unitOfWork);
		this.connect = new StoreClient(store, settings.commandTimeout(), this.threads.events())::connect;
	}

	/** Creates an engine whose clock and threads a test controls. */
	LockEngine(Supplier<KeyLockRegistry> instances) {
		this.threads = new EngineThreads();
		this.instances = instances;
		this.template = new DefaultLockTemplate(this::registry, UnitOfWork.NONE);
		this.connect = () -> {
		};
	}

	/**
	 * Returns the present instance.
	 */
	KeyLockRegistry registry() {
		KeyLockRegistry present = this.registry;
		return (present != null) ? present : newInstance();
	}

	private KeyLockRegistry newInstance() {
		this.changing.lock();
		try {
			KeyLockRegistry present = this.registry;
			if (present == null) {
				present = this.instances.get();
				this.registry = present;
			}
			return present;
		}
		finally {
			this.changing.unlock();
		}
	}

	/**
	 * Returns what acquires locks.
	 * @return the template, always the same one
	 */
	public LockTemplate template() {
		return this.template;
	}

	/**
	 * Makes the engine usable again after {@link #stop()}, as another instance: with an
	 * identity and an inbox of its own. Lets the store connect in the background.
	 */
	public void start() {
		this.threads.keepIdle(true);
		this.changing.lock();
		try {
			KeyLockRegistry present = this.registry;
			if (present != null && present.isStopped()) {
				this.registry = null;
			}
			else if (present != null) {
				present.setClosing(false);
			}
		}
		finally {
			this.changing.unlock();
		}
		this.connect.run();
	}

	/**
	 * Ends all waiting: from now on free locks are acquired, and others are busy at once,
	 * also for those who wait now.
	 */
	public void stopWaiting() {
		registry().setClosing(true);
	}

	/**
	 * Stops: waiting ends; work under a lock may end within the shutdown timeout; what is
	 * then still held is released and counts as lost. Returns within the shutdown timeout
	 * and about two command timeouts (and one more for each further server that does not
	 * answer), without threads of the engine. Does nothing the second time.
	 */
	public void stop() {
		KeyLockRegistry stopping = registry();
		if (stopping.isStopped()) {
			return;
		}
		stopping.setClosing(true);
		await(stopping, stopping::isEmpty, stopping.settings().shutdownTimeout());
		stopping.setStopped();
		stopping.dispatcher().endRepetitions();
		releaseAll(stopping);
		stopping.closeInbox();
		await(stopping, () -> stopping.dispatcher().isIdle() && stopping.events().isIdle(),
				stopping.settings().commandTimeout());
		stopping.watchdog().wake();
		this.threads.keepIdle(false);
	}

	private void await(KeyLockRegistry stopping, BooleanSupplier condition, Duration longest) {
		Time time = stopping.time();
		long end = time.nanoTime() + longest.toNanos();
		while (!condition.getAsBoolean() && time.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
			time.park(this, CHECK_INTERVAL_NANOS);
		}
	}

	private void releaseAll(KeyLockRegistry stopping) {
		Time time = stopping.time();
		List<ReleaseRequest> requests = new ArrayList<>();
		for (KeyLock lock : stopping.locks()) {
			ReleaseRequest request = lock.surrender(time.nanoTime());
			if (request != null) {
				requests.add(request);
			}
		}
		if (requests.isEmpty()) {
			return;
		}
		logger.warn("{} lock(s) were still held when the application stopped and are released now, '{}' among them",
				requests.size(), requests.get(0).key());
		StoreClient client = stopping.client();
		long longest = client.commandTimeout().toNanos();
		Map<String, Long> failing = new HashMap<>();
		for (ReleaseRequest request : requests) {
			String shard = client.shard(request.key());
			if (failing.getOrDefault(shard, 0L) >= longest) {
				continue;
			}
			long sent = time.nanoTime();
			try {
				client.release(request, client.commandTimeout());
			}
			catch (LockUnavailableException ex) {
				logger.warn("Lock '{}' could not be released and will expire: {}", request.key(), ex.getMessage());
				failing.merge(shard, time.nanoTime() - sent, Long::sum);
			}
		}
	}

	/**
	 * As {@link #stop()}.
	 */
	@Override
	public void close() {
		stop();
	}

	@Override
	public String toString() {
		KeyLockRegistry present = this.registry;
		return "LockEngine[" + ((present != null) ? present.instance() : "not used yet") + "]";
	}

}
