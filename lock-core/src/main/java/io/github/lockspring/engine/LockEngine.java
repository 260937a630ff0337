package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.LockListener;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.UnitOfWork;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds locks in a {@link LockStore} for one instance of an application. Thread-safe. Has
 * no thread and asks nothing while no lock is held or waited for; an inbox that was
 * opened stays open, and is the store's affair.
 * <p>
 * The store is not closed with the engine: who made it closes it, afterwards.
 */
public final class LockEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private static final long CHECK_INTERVAL = 5_000_000;

	private static final long KEEP_THREAD = 5_000_000_000L;

	private final LockTable table;

	private final DefaultLockTemplate template;

	private final List<ThreadPoolExecutor> threads;

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
		this.threads = List.of(threads("lockspring-io"), oneThread("lockspring-events"));
		this.table = new LockTable(store, settings, listeners, Time.SYSTEM, this.threads.get(0), this.threads.get(1),
				(task) -> newThread(task, "lockspring-watchdog").start());
		this.template = new DefaultLockTemplate(this.table, unitOfWork);
	}

	/** An engine whose time and threads are in a test's hand. */
	LockEngine(LockTable table) {
		this.threads = List.of();
		this.table = table;
		this.template = new DefaultLockTemplate(table, UnitOfWork.NONE);
	}

	/** One daemon thread that ends when it has had nothing to do for a while. */
	private static ThreadPoolExecutor oneThread(String name) {
		ThreadPoolExecutor executor = new ThreadPoolExecutor(1, 1, KEEP_THREAD, TimeUnit.NANOSECONDS,
				new LinkedBlockingQueue<>(), (task) -> newThread(task, name));
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

	/** As many as there are tasks at a time: the courier has one for each shard. */
	private static ThreadPoolExecutor threads(String name) {
		return new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_THREAD, TimeUnit.NANOSECONDS, new SynchronousQueue<>(),
				(task) -> newThread(task, name));
	}

	private static Thread newThread(Runnable task, String name) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		return thread;
	}

	/**
	 * The way to take locks.
	 * @return the template, always the same
	 */
	public LockTemplate template() {
		return this.template;
	}

	/**
	 * Makes the engine usable again after {@link #stop()}.
	 */
	public void start() {
		keepIdleThreads(KEEP_THREAD);
		this.table.setStopped(false);
		this.table.setClosing(false);
	}

	/**
	 * From now on nobody waits: free locks are granted, for others the answer is busy, at
	 * once; those who wait now are told so too.
	 */
	public void stopWaiting() {
		this.table.setClosing(true);
	}

	/**
	 * Stops: nobody waits any more; work under a lock may end within the shutdown
	 * timeout; what is then still held is released and counts as lost. Returns within the
	 * shutdown timeout and about two command timeouts (and one more for each further
	 * server that does not answer), without threads of the engine. Does nothing the
	 * second time.
	 */
	public void stop() {
		if (this.table.isStopped()) {
			return;
		}
		stopWaiting();
		long now = this.table.time.nanoTime();
		awaitUntil(now + this.table.settings.shutdownTimeout().toNanos());
		this.table.setStopped(true);
		releaseAll();
		this.table.closeInbox();
		this.table.courier.awaitIdle(this.table.settings.commandTimeout());
		this.table.watchdog.wake();
		keepIdleThreads(1);
	}

	private void keepIdleThreads(long nanos) {
		this.threads.forEach((thread) -> thread.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS));
	}

	private void awaitUntil(long end) {
		boolean interrupted = false;
		while (!this.table.isEmpty() && this.table.time.nanoTime() - end < 0) {
			this.table.time.park(this, CHECK_INTERVAL);
			interrupted |= Thread.interrupted();
			if (interrupted) {
				break;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

	private void releaseAll() {
		List<ReleaseRequest> requests = new ArrayList<>();
		for (LockEntry entry : this.table.entries()) {
			ReleaseRequest request = entry.surrender();
			if (request != null) {
				requests.add(request);
			}
		}
		if (requests.isEmpty()) {
			return;
		}
		logger.warn("{} lock(s) were still held when the application stopped and are released now, '{}' among them",
				requests.size(), requests.get(0).key());
		Duration timeout = this.table.settings.commandTimeout();
		Set<String> silent = new HashSet<>();
		for (ReleaseRequest request : requests) {
			String shard = this.table.courier.shard(request.key());
			if (silent.contains(shard)) {
				continue;
			}
			long asked = this.table.time.nanoTime();
			try {
				Calls.uninterrupted(() -> this.table.store.release(request, timeout));
			}
			catch (RuntimeException ex) {
				logger.warn("Lock '{}' could not be released and will end by itself: {}", request.key(),
						ex.getMessage());
				if (this.table.time.nanoTime() - asked >= timeout.toNanos()) {
					silent.add(shard);
				}
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

	LockTable table() {
		return this.table;
	}

	@Override
	public String toString() {
		return "LockEngine[" + this.table.instance() + "]";
	}

}
