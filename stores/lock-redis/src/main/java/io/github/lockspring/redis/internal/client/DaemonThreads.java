package io.github.lockspring.redis.internal.client;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.QueryTimeoutException;
import org.springframework.data.redis.RedisSystemException;

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
	 * Creates an executor with an unbounded queue.
	 * @param name the name of its thread; a number follows if there are several
	 * @param threads the largest number of threads
	 * @return the executor
	 */
	public static ThreadPoolExecutor onDemand(String name, int threads) {
		return onDemand(name, threads, Integer.MAX_VALUE);
	}

	/**
	 * Creates an executor that rejects tasks when its queue is full.
	 * @param name the name of its thread; a number follows if there are several
	 * @param threads the largest number of threads
	 * @param queueCapacity the largest number of waiting tasks
	 * @return the executor
	 */
	public static ThreadPoolExecutor onDemand(String name, int threads, int queueCapacity) {
		AtomicInteger number = new AtomicInteger();
		ThreadPoolExecutor executor = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(queueCapacity),
				(task) -> new DaemonThreadFactory((threads > 1) ? name + "-" + number.incrementAndGet() : name)
					.newThread(task));
		executor.allowCoreThreadTimeOut(true);
		return executor;
	}

	/**
	 * Runs a task on a thread of the executor and waits for its result.
	 * @param task is given a flag that becomes true when the caller stops waiting; not
	 * run at all if that happens before it starts
	 * @param timeout how long to wait
	 * @throws LockUnavailableException if the executor is shut down
	 * @throws QueryTimeoutException if the result does not come in time
	 * @throws RuntimeException the exception of the task
	 */
	static <T extends @Nullable Object> T call(ThreadPoolExecutor executor, Function<AtomicBoolean, T> task,
			Duration timeout) {
		AtomicBoolean abandoned = new AtomicBoolean();
		Future<T> result;
		try {
			result = executor.submit(() -> task.apply(abandoned));
		}
		catch (RejectedExecutionException ex) {
			throw new LockUnavailableException("The lock store is closed", ex);
		}
		try {
			return await(result, timeout);
		}
		finally {
			// changes nothing for a task that has ended
			abandoned.set(true);
			result.cancel(false);
		}
	}

	/**
	 * Waits for a result.
	 * @param timeout how long to wait
	 * @throws QueryTimeoutException if it does not come in time
	 * @throws RuntimeException the exception with which it was completed
	 */
	static <T extends @Nullable Object> T await(Future<T> result, Duration timeout) {
		try {
			return result.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() instanceof RuntimeException cause) ? cause
					: new RedisSystemException("Command failed", ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new QueryTimeoutException("No reply from Redis", ex);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new RedisSystemException("Interrupted while waiting for Redis", ex);
		}
	}

}
