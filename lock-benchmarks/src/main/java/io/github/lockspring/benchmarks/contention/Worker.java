package io.github.lockspring.benchmarks.contention;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import io.github.lockspring.benchmarks.adapter.LockAdapter;
import io.github.lockspring.benchmarks.adapter.Servers;

/**
 * A process that takes locks as it is told: one order a line on standard input, one
 * answer a line on standard output, until the input ends. All its adapters stay connected
 * for all that time.
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
	 * @param args Redis' port, ZooKeeper's connect string or "-", the lease in
	 * milliseconds, the file of cells, the adapters
	 * @throws Exception if something cannot be reached
	 */
	public static void main(String[] args) throws Exception {
		PrintStream answers = System.out;
		System.setOut(System.err);
		Servers servers = new Servers(Integer.parseInt(args[0]), args[1].equals("-") ? "" : args[1],
				Duration.ofMillis(Long.parseLong(args[2])));
		Worker worker = new Worker(Cells.map(Path.of(args[3]), ContentionBenchmark.CELLS));
		for (String id : args[4].split(",")) {
			AdapterKind kind = AdapterKind.of(id);
			worker.adapters.put(kind, kind.connect(servers));
		}
		answers.println(READY);
		worker.obey(answers);
		worker.adapters.values().forEach(LockAdapter::close);
		System.exit(0);
	}

	private void obey(PrintStream answers) throws IOException, InterruptedException {
		BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		String line = orders.readLine();
		while (line != null && !line.isEmpty()) {
			Order order = Order.parse(line);
			LockAdapter adapter = Objects.requireNonNull(this.adapters.get(order.adapter()));
			answers.println(new WorkerRun(adapter, this.cells, order).call().line());
			line = orders.readLine();
		}
	}

}
