package io.github.lockspring.redis.internal.client;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.internal.base.DaemonThreadFactory;

/**
 * Executors whose threads start with their first task, end when idle, and never keep a
 * process alive.
 *
 * @since 0.1
 */
public final class DaemonThreads {

	private static final long IDLE_SECONDS = 30;

	private DaemonThreads() {
	}

	/**
	 * Creates an executor that rejects tasks when its queue is full.
	 * @param name the name of its threads; their number follows
	 * @param threads the largest number of threads
	 * @param queueCapacity the largest number of waiting tasks
	 * @return the executor
	 */
	public static ThreadPoolExecutor onDemand(String name, int threads, int queueCapacity) {
		AtomicInteger number = new AtomicInteger();
		ThreadPoolExecutor executor = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(queueCapacity),
				(task) -> new DaemonThreadFactory(name + "-" + number.incrementAndGet()).newThread(task));
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

}
