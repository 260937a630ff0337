package io.github.lockspring.internal.engine.support;

import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.internal.base.DaemonThreadFactory;

/**
 * The threads of an engine, all of them daemons. The watchdog lives from the first lock
 * to the stop, the others while there is work and for a while after it.
 *
 * @since 0.1
 */
public final class EngineThreads {

	private static final long KEEP_ALIVE_NANOS = 5_000_000_000L;

	/** For attempts and releases over a store that blocks: a few, as its connections. */
	private static final int BACKGROUND_THREADS = 8;

	private final ThreadPoolExecutor background = new ThreadPoolExecutor(BACKGROUND_THREADS, BACKGROUND_THREADS,
			KEEP_ALIVE_NANOS, TimeUnit.NANOSECONDS, new LinkedBlockingQueue<>(),
			new DaemonThreadFactory("lockspring-requests"));

	/** As many as there are tasks at a time: renewals wait for nothing else. */
	private final ThreadPoolExecutor io = new ThreadPoolExecutor(0, Integer.MAX_VALUE, KEEP_ALIVE_NANOS,
			TimeUnit.NANOSECONDS, new SynchronousQueue<>(), new DaemonThreadFactory("lockspring-io"));

	private final ThreadPoolExecutor events = new ThreadPoolExecutor(1, 1, KEEP_ALIVE_NANOS, TimeUnit.NANOSECONDS,
			new LinkedBlockingQueue<>(), new DaemonThreadFactory("lockspring-events"));

	private final DaemonThreadFactory watchdog = new DaemonThreadFactory("lockspring-watchdog");

	/**
	 * Creates the executors, without a thread yet.
	 */
	public EngineThreads() {
		this.background.allowCoreThreadTimeOut(true);
		this.events.allowCoreThreadTimeOut(true);
	}

	/**
	 * The executors of an engine.
	 *
	 * @param background sends attempts and releases to a store that blocks: a few threads
	 * @param io runs anything else that may block, such as renewals: a thread for each
	 * task
	 * @param events calls listeners and runs log statements: one thread
	 * @param watchdog runs the watchdog: starts a thread for each task
	 */
	public record Executors(Executor background, Executor io, Executor events, Executor watchdog) {
	}

	/**
	 * Returns the executors.
	 * @return executors without a thread yet
	 */
	public Executors executors() {
		return new Executors(this.background, this.io, this.events, (task) -> this.watchdog.newThread(task).start());
	}

	/**
	 * Configures idle threads.
	 * @param keep whether they wait for work for a while, or end
	 */
	public void keepIdle(boolean keep) {
		long nanos = keep ? KEEP_ALIVE_NANOS : 1;
		this.background.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS);
		this.io.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS);
		this.events.setKeepAliveTime(nanos, TimeUnit.NANOSECONDS);
	}

}
