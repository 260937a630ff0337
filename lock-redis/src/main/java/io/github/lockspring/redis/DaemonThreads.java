package io.github.lockspring.redis;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes executors whose threads begin with their first task, end when idle, and never
 * keep a process alive.
 */
final class DaemonThreads {

	private static final long IDLE_SECONDS = 30;

	private DaemonThreads() {
	}

	static ThreadPoolExecutor onDemand(String name, int threads) {
		AtomicInteger number = new AtomicInteger();
		ThreadPoolExecutor executor = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), (task) -> {
					String suffix = (threads > 1) ? "-" + number.incrementAndGet() : "";
					return thread(name + suffix, task);
				});
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

	static Thread thread(String name, Runnable task) {
		Thread thread = new Thread(task, name);
		thread.setDaemon(true);
		return thread;
	}

}
