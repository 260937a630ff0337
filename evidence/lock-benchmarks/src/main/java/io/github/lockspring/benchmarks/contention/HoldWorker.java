package io.github.lockspring.benchmarks.contention;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.adapter.LockAdapter.Hold;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import io.github.lockspring.benchmarks.adapter.Servers;
import io.github.lockspring.testsupport.process.Conversation;

/**
 * A process that holds many locks at once, with one kind of lock only, so its threads and
 * its CPU time are that kind's. Each lock is released by the thread that took it. It
 * reports each finished step, and goes on when it reads a line.
 */
public final class HoldWorker {

	/** Enough to keep the connection busy; the same number before and after. */
	private static final int THREADS = 32;

	/** What one collection enqueues for clean-up, the next ones free. */
	private static final int COLLECTIONS = 3;

	private final LockAdapter adapter;

	private final int locks;

	private final List<ExecutorService> threads = new ArrayList<>();

	private final AtomicLong failures = new AtomicLong();

	private final AtomicReference<String> firstFailure = new AtomicReference<>("");

	private HoldWorker(LockAdapter adapter, int locks) {
		this.adapter = adapter;
		this.locks = locks;
		for (int i = 0; i < THREADS; i++) {
			this.threads.add(Executors.newSingleThreadExecutor());
		}
	}

	/**
	 * Holds the locks.
	 * @param args Redis' port, the lease in milliseconds, the adapter, the number of
	 * locks
	 * @throws Exception if Redis cannot be reached
	 */
	public static void main(String[] args) throws Exception {
		Conversation benchmark = new Conversation();
		Servers servers = new Servers(Integer.parseInt(args[0]), "", "", "",
				Duration.ofMillis(Long.parseLong(args[1])));
		HoldWorker worker = new HoldWorker(AdapterKind.of(args[2]).connect(servers), Integer.parseInt(args[3]));

		worker.release(worker.take("warm-up-", 0, worker.locks / 10));
		List<List<Hold>> first = worker.take(HeldResult.KEY, 0, 1);
		TimeUnit.SECONDS.sleep(1);
		int threadsWithOne = threadCount();
		long heapWithOne = usedHeap();

		long start = System.nanoTime();
		List<List<Hold>> others = worker.take(HeldResult.KEY, 1, worker.locks);
		benchmark.say(threadsWithOne + " " + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start));

		benchmark.hear();
		benchmark.say(WorkerRun.cpuNanos());
		benchmark.hear();
		benchmark.say(WorkerRun.cpuNanos() + " " + threadCount());
		benchmark.hear();
		benchmark.say(usedHeap() - heapWithOne);
		benchmark.hear();

		start = System.nanoTime();
		worker.release(first);
		worker.release(others);
		benchmark.say(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) + " " + worker.failures + " "
				+ worker.firstFailure);
		benchmark.hear();
		System.exit(0);
	}

	private List<List<Hold>> take(String prefix, int from, int to) throws InterruptedException, ExecutionException {
		return all((thread) -> {
			List<Hold> holds = new ArrayList<>();
			for (int i = from + thread; i < to; i += THREADS) {
				String key = prefix + i;
				attempt(() -> holds.add(this.adapter.hold(key)));
			}
			return holds;
		});
	}

	private void release(List<List<Hold>> holds) throws InterruptedException, ExecutionException {
		all((thread) -> {
			for (Hold hold : holds.get(thread)) {
				attempt(() -> {
					hold.release();
					return true;
				});
			}
			return true;
		});
	}

	private void attempt(Callable<Boolean> step) {
		try {
			step.call();
		}
		catch (Exception ex) {
			this.failures.incrementAndGet();
			this.firstFailure.compareAndSet("", String.valueOf(ex).replaceAll("\\p{Cntrl}", " "));
		}
	}

	private <T> List<T> all(Step<T> step) throws InterruptedException, ExecutionException {
		List<Future<T>> running = new ArrayList<>();
		for (int i = 0; i < THREADS; i++) {
			int thread = i;
			running.add(this.threads.get(i).submit(() -> step.run(thread)));
		}
		List<T> results = new ArrayList<>();
		for (Future<T> one : running) {
			results.add(one.get());
		}
		return results;
	}

	/** Without what no longer is reachable, as far as the collector finds it. */
	private static long usedHeap() {
		for (int i = 0; i < COLLECTIONS; i++) {
			System.gc();
		}
		return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
	}

	private static int threadCount() {
		return ManagementFactory.getThreadMXBean().getThreadCount();
	}

	/**
	 * The work of each thread.
	 *
	 * @param <T> its result
	 */
	@FunctionalInterface
	private interface Step<T> {

		T run(int thread);

	}

}
