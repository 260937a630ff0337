package io.github.lockspring.benchmarks.contention;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

import com.sun.management.OperatingSystemMXBean;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import org.HdrHistogram.Histogram;

/**
 * One run in one process.
 */
final class WorkerRun {

	private final LockAdapter adapter;

	private final Cells cells;

	private final Order order;

	WorkerRun(LockAdapter adapter, Cells cells, Order order) {
		this.adapter = adapter;
		this.cells = cells;
		this.order = order;
	}

	Answer call() throws InterruptedException {
		long cpu = cpuNanos();
		List<Contender> contenders = contenders();
		ExecutorService threads = this.order.scenario().virtual() ? virtualThreads() : Executors.newCachedThreadPool();
		try {
			List<Future<?>> ends = new ArrayList<>();
			contenders.forEach((contender) -> ends.add(threads.submit(contender)));
			for (Future<?> end : ends) {
				end.get();
			}
		}
		catch (ExecutionException ex) {
			throw new IllegalStateException(ex.getCause());
		}
		finally {
			threads.shutdownNow();
		}
		return answer(contenders, cpuNanos() - cpu);
	}

	private List<Contender> contenders() {
		Scenario scenario = this.order.scenario();
		Contender.Window window = Contender.Window.of(this.order);
		long pid = ProcessHandle.current().pid();
		String prefix = scenario.id() + ((scenario == Scenario.WARM_UP) ? "-" + pid + "-" : "-");
		List<Contender> contenders = new ArrayList<>();
		for (int i = 0; i < scenario.threads(); i++) {
			int cell = i % scenario.keys();
			contenders.add(new Contender(this.adapter, this.cells, prefix + cell, cell, (pid << 16) + i + 1,
					scenario.sectionMicros() * 1000, window));
		}
		return contenders;
	}

	private static Answer answer(List<Contender> contenders, long cpuNanos) {
		Histogram waits = Answer.newHistogram();
		contenders.forEach((contender) -> waits.add(contender.waits()));
		String firstError = contenders.stream()
			.map(Contender::firstError)
			.filter(Objects::nonNull)
			.map(String::valueOf)
			.findFirst()
			.orElse("");
		return new Answer(contenders.stream().mapToLong(Contender::sections).sum(),
				contenders.stream().mapToLong(Contender::violations).sum(),
				contenders.stream().mapToLong(Contender::errors).sum(), cpuNanos,
				contenders.stream().mapToLong(Contender::counted).toArray(), waits, firstError);
	}

	/**
	 * By reflection, since the source is Java 17's.
	 */
	private static ExecutorService virtualThreads() {
		try {
			return (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
		}
		catch (ReflectiveOperationException ex) {
			throw new IllegalStateException("Virtual threads need Java 21", ex);
		}
	}

	static long cpuNanos() {
		return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
	}

}
