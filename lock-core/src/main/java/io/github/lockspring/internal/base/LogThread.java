package io.github.lockspring.internal.base;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Writes to the log for the threads of drivers, which carry the answers to all requests:
 * an appender may block, and they must not. Thread-safe.
 *
 * @since 0.1
 */
public final class LogThread {

	static final int MAX_WAITING = 1000;

	/** One thread, which ends when it has nothing to do. */
	private static final ThreadPoolExecutor THREAD = new ThreadPoolExecutor(1, 1, 1, TimeUnit.SECONDS,
			new LinkedBlockingQueue<>(MAX_WAITING), new DaemonThreadFactory("lock-log"));

	static {
		THREAD.allowCoreThreadTimeOut(true);
	}

	private LogThread() {
	}

	/**
	 * Writes to the log, in order, not on the present thread. Never throws; drops what
	 * does not fit while an appender is blocked.
	 * @param lines writes to the log
	 */
	public static void execute(Runnable lines) {
		try {
			THREAD.execute(lines);
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			// too many lines wait, or the machine is out of threads
		}
	}

}
