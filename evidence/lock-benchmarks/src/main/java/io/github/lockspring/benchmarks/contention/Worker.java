package io.github.lockspring.benchmarks.contention;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import io.github.lockspring.benchmarks.adapter.Servers;
import io.github.lockspring.testsupport.process.Conversation;

/**
 * A process that takes locks as ordered: one order a line on standard input, one answer a
 * line on standard output, until the input ends. All its adapters stay connected for all
 * that time.
 */
public final class Worker {

	static final String READY = "ready";

	private final Cells cells;

	private final Map<AdapterKind, LockAdapter> adapters = new EnumMap<>(AdapterKind.class);

	private Worker(Cells cells) {
		this.cells = cells;
	}

	/**
	 * Connects and waits for orders.
	 * @param args Redis' port, ZooKeeper's connect string or "-", PostgreSQL's URL,
	 * etcd's URL, the lease in milliseconds, the file of cells, the adapters
	 * @throws Exception if something cannot be reached
	 */
	public static void main(String[] args) throws Exception {
		Conversation benchmark = new Conversation();
		Servers servers = new Servers(Integer.parseInt(args[0]), args[1].equals("-") ? "" : args[1], args[2], args[3],
				Duration.ofMillis(Long.parseLong(args[4])));
		Worker worker = new Worker(Cells.map(Path.of(args[5]), ContentionBenchmark.CELLS));
		for (String id : args[6].split(",")) {
			AdapterKind kind = AdapterKind.of(id);
			worker.adapters.put(kind, kind.connect(servers));
		}
		benchmark.say(READY);
		worker.obey(benchmark);
	}

	private void obey(Conversation benchmark) throws InterruptedException {
		while (true) {
			Order order = Order.parse(benchmark.hear());
			LockAdapter adapter = Objects.requireNonNull(this.adapters.get(order.adapter()));
			benchmark.say(new WorkerRun(adapter, this.cells, order).call().line());
		}
	}

}
