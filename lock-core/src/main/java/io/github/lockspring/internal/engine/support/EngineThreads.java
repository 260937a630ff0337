package io.github.lockspring.internal.engine.support;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.internal.base.DaemonThreadFactory;

/**
 * The threads of an engine: daemons that are created when there is work and end when
 * there has been none for a while.
 *
 * @since 0.1
 */
public final class EngineThreads {

	private static final long KEEP_ALIVE_NANOS = 5_000_000_000L;

	/** As many as there are tasks at a time: the dispatcher has one for each server. */
	private final ThreadPoolExecutor dispatchers = new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_ALIVE_NANOS,
			TimeUnit.NANOSECONDS, new SynchronousQueue<>(), new DaemonThreadFactory("lockspring-io"));

	private final ThreadPoolExecutor events = new ThreadPoolExecutor(1, 1, KEEP_ALIVE_NANOS, TimeUnit.NANOSECONDS,
			new LinkedBlockingQueue<>(), new DaemonThreadFactory("lockspring-events"));

	private final DaemonThreadFactory watchdog = new DaemonThreadFactory("lockspring-watchdog");

	/**
	 * Creates the executors, without a thread yet.
	 */
	public EngineThreads() {
		this.events.allowCoreThreadTimeOut(true);
	}

	/**
	 * Returns what runs requests to the store.
	 * @return an executor with a thread for each task
	 */
	public Executor dispatchers() {
		return this.dispatchers;
	}

	/**
	 * Returns what tells listeners and writes the log.
	 * @return an executor with one thread
	 */
	public Executor events() {
		return this.events;
	}

	/**
	 * Returns what runs the watchdog.
	 * @return an executor that starts a thread for each task
	 */
	public Executor watchdog() {
		return (task) -> this.watchdog.newThread(task).start();
	}

	/**
	 * Decides what becomes of idle threads.
	 * @param keep whether they wait for work for a while, or end
	 */
	public void keepIdle(boolean keep) {
		long nanos = keep ? KEEP_ALIVE_NANOS : 1;
		this.dispatchers.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS);
		this.events.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS);
	}

}
