package io.github.lockspring.benchmarks.contention;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

import io.github.lockspring.benchmarks.adapter.AdapterKind;
import org.jspecify.annotations.Nullable;

/**
 * The tables.
 */
final class Report {

	private final Machine machine;

	private final Options options;

	Report(Machine machine, Options options) {
		this.machine = machine;
		this.options = options;
	}

	String text(List<Measurement> measurements, List<HeldResult> held) {
		StringBuilder text = new StringBuilder("# Contention\n\n");
		this.machine.facts()
			.forEach((name, fact) -> text.append("- ").append(name).append(": ").append(fact).append('\n'));
		text.append(method());
		for (Scenario scenario : this.options.scenarios()) {
			text.append('\n');
			if (scenario == Scenario.HELD) {
				text.append(held(held));
			}
			else if (scenario.canRunHere()) {
				text.append(table(scenario, measurements));
			}
			else {
				text.append("## ").append(scenario.id()).append("\n\nNot run: virtual threads need Java 21.\n");
			}
		}
		return text.toString();
	}

	private String method() {
		return """

				%d runs of %s s for each lock in each scenario, each after %s ms of warm-up of its own, in turns: all locks \
				forward, all backward, and so on. Everything stays connected all the time.

				Rate, Jain's index, commands and CPU: median of the runs. Wait: from asking for the lock until the section \
				begins, all runs together; max is the longest of all. "× floor" and "× best peer" are the median of the \
				ratios in each repetition; the best peer is the one with the highest median rate among those that compare \
				the owner, on the same kind of server. "Sent" are the commands that clients sent for one lock acquired and released, "executed" \
				also counts those that scripts called. "Redis" is the time Redis spent in them, "server CPU" what its process \
				(or that of ZooKeeper or etcd) used, "worker CPU" what the JVMs used, all for one lock. "Violations" are sections \
				that were not alone, as seen in shared memory.
				"""
			.formatted(this.options.repetitions(), this.options.seconds(), this.options.warmUp().toMillis());
	}

	String table(Scenario scenario, List<Measurement> all) {
		List<Summary> rows = summaries(scenario, all);
		StringBuilder text = new StringBuilder("## " + scenario.id() + "\n\n" + scenario.description() + ".\n\n");
		text.append("| lock | rate /s | × floor | × best peer | wait p50 | p99 | max | Jain threads | Jain JVMs "
				+ "| sent | executed | Redis µs | server CPU µs | worker CPU µs | violations |\n");
		text.append("| --- |" + " ---: |".repeat(14) + "\n");
		Summary floor = Summary.find(rows, AdapterKind.FLOOR);
		for (Summary row : rows) {
			boolean onRedis = row.adapter().server() == AdapterKind.Server.REDIS;
			List<String> cells = new ArrayList<>();
			cells.add(row.adapter().id() + (row.adapter().comparesOwner() ? "" : " (does not compare the owner)"));
			cells.add(String.format("%,.0f", row.rate()));
			cells.add(ratio(row, floor));
			cells.add(ratio(row, bestPeer(onServerOf(row, rows))));
			cells.add(time(row.waitMicros(50)));
			cells.add(time(row.waitMicros(99)));
			cells.add(time(row.longestWaitMicros()));
			cells.add(number(row.median(Measurement::threadFairness)));
			cells.add(number(row.median(Measurement::processFairness)));
			cells.add(onRedis ? number(row.median(Measurement::commandsSent)) : "");
			cells.add(onRedis ? number(row.median(Measurement::commandsExecuted)) : "");
			cells.add(onRedis ? number(row.median(Measurement::redisMicros)) : "");
			cells.add(number(row.median(Measurement::serverCpuMicros)));
			cells.add(number(row.median(Measurement::workerCpuMicros)));
			cells.add(row.violations() + ((row.errors() > 0) ? ", " + row.errors() + " errors" : ""));
			text.append(cells.stream().collect(Collectors.joining(" | ", "| ", " |\n")));
		}
		rows.stream()
			.filter((row) -> row.errors() > 0)
			.forEach((row) -> text.append("\nErrors of " + row.adapter().id() + ": `" + row.firstError() + "`\n"));
		return text.append(absent(scenario)).toString();
	}

	String held(List<HeldResult> results) {
		HeldLocks held = this.options.heldLocks();
		StringBuilder text = new StringBuilder("## " + Scenario.HELD.id() + "\n\n");
		text.append(
				"One JVM holds %,d locks with a renewed lease of %d s for %d s; all keys' TTLs are read each second.%n%n"
					.formatted(held.locks(), held.ttl().toSeconds(), held.time().toSeconds()));
		text.append("| lock | acquired in | released in | worker CPU | heap of a lock | Redis' time | commands "
				+ "| threads with one lock | with all | shortest TTL seen | below half | lost | keys left | other keys left | without a TTL |\n");
		text.append("| --- |" + " ---: |".repeat(14) + "\n");
		for (HeldResult row : results) {
			text.append(("| %s | %.1f s | %.1f s | %.2f s | %,d bytes | %.2f s | %,d "
					+ "| %d | %d | %.1f s | %d | %d | %d | %d | %d |%n")
				.formatted(row.adapter().id(), row.takenMillis() / 1000.0, row.releasedMillis() / 1000.0,
						row.workerCpuSeconds(), row.heapBytesPerLock(), row.redisSeconds(), row.commands(),
						row.threadsWithOne(), row.threadsWithAll(), row.leases().shortestMillis() / 1000.0,
						row.leases().belowHalf(), row.leases().missing() + row.failures(), row.keysLeft(),
						row.siblingsLeft(), row.immortalsLeft()));
		}
		text.append("\nOther keys are those beside the locks' own, which run out by their TTL.\n");
		results.stream()
			.filter((row) -> !row.firstFailure().isEmpty())
			.forEach((row) -> text.append("\nErrors of " + row.adapter().id() + ": `" + row.firstFailure() + "`\n"));
		return text.append(absent(Scenario.HELD)).toString();
	}

	private String absent(Scenario scenario) {
		String absent = this.options.adapters()
			.stream()
			.filter((kind) -> !kind.can(scenario.needs()))
			.map(AdapterKind::id)
			.collect(Collectors.joining(", "));
		return absent.isEmpty() ? "" : "\nCannot do this, or is not made for it: " + absent + ".\n";
	}

	private List<Summary> summaries(Scenario scenario, List<Measurement> all) {
		return this.options.adaptersFor(scenario)
			.stream()
			.map((kind) -> new Summary(kind,
					all.stream().filter((run) -> run.scenario() == scenario && run.adapter() == kind).toList()))
			.filter((row) -> !row.runs().isEmpty())
			.toList();
	}

	private static List<Summary> onServerOf(Summary row, List<Summary> rows) {
		return rows.stream().filter((other) -> other.adapter().server() == row.adapter().server()).toList();
	}

	/**
	 * The peer to beat; neither the floor nor who deletes other people's locks is one.
	 */
	static @Nullable Summary bestPeer(List<Summary> rows) {
		Summary best = null;
		for (Summary row : rows) {
			boolean peer = row.adapter() != AdapterKind.FLOOR && row.adapter() != AdapterKind.FLOOR_JEDIS
					&& !row.adapter().isOurs() && row.adapter().comparesOwner();
			if (peer && (best == null || row.rate() > best.rate())) {
				best = row;
			}
		}
		return best;
	}

	private static String ratio(Summary row, @Nullable Summary other) {
		return (other == null) ? "" : String.format("%.2f", row.ratioTo(other));
	}

	private static String number(double value) {
		return String.format((value < 0.01) ? "%.4f" : (value < 1) ? "%.3f" : "%.2f", value);
	}

	private static String time(double micros) {
		return (micros < 1000) ? String.format("%.0f µs", micros) : String.format("%,.1f ms", micros / 1000);
	}

}
