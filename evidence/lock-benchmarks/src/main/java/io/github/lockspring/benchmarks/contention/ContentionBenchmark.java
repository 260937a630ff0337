package io.github.lockspring.benchmarks.contention;

import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

import io.github.lockspring.benchmarks.adapter.AdapterKind;

/**
 * The contention benchmark: starts the servers and the worker processes, gives every lock
 * its turns, and writes what came out. Fails if two sections overlapped.
 */
public final class ContentionBenchmark {

	/** The largest number of different locks in a scenario. */
	static final int CELLS = 64;

	private final Options options;

	private final List<Measurement> measurements = new ArrayList<>();

	private final List<HeldResult> held = new ArrayList<>();

	private ContentionBenchmark(Options options) {
		this.options = options;
	}

	/**
	 * Runs the scenarios.
	 * @param args see README.md
	 * @throws Exception if the run cannot go on
	 */
	public static void main(String[] args) throws Exception {
		Locale.setDefault(Locale.ROOT);
		Options options;
		try {
			options = Options.parse(args);
		}
		catch (IllegalArgumentException ex) {
			System.err.println(ex.getMessage() + "\n" + Options.USAGE.formatted(Scenario.ids(),
					Arrays.stream(AdapterKind.values()).map(AdapterKind::id).collect(Collectors.joining(", "))));
			System.exit(2);
			return;
		}
		ContentionBenchmark benchmark = new ContentionBenchmark(options);
		benchmark.run();
		if (benchmark.violations() > 0) {
			System.err.println("Sections have overlapped: see the column \"violations\"");
			System.exit(1);
		}
		System.exit(0);
	}

	private void run() throws Exception {
		Files.createDirectories(this.options.out());
		try (RawData raw = new RawData(this.options.out().resolve("contention.jsonl"))) {
			Report report;
			try (Fleet fleet = new Fleet(this.options.processes(), this.options.adapters(), this.options.out())) {
				Machine machine = Machine.here(fleet.servers());
				raw.write(machine.facts());
				report = new Report(machine, this.options);
				for (AdapterKind adapter : this.options.adaptersFor(Scenario.WARM_UP)) {
					fleet.warmUp(adapter, this.options.warmUpSeconds());
				}
				for (Scenario scenario : this.options.contests()) {
					run(fleet, scenario, raw);
					System.out.println(report.table(scenario, this.measurements));
				}
			}
			if (this.options.scenarios().contains(Scenario.HELD)) {
				hold(raw);
				System.out.println(report.held(this.held));
			}
			Files.writeString(this.options.out().resolve("contention.md"), report.text(this.measurements, this.held));
		}
		System.out.println("Report and raw data: " + this.options.out().toAbsolutePath().normalize());
	}

	private void hold(RawData raw) throws Exception {
		for (AdapterKind adapter : this.options.adaptersFor(Scenario.HELD)) {
			HeldResult result = this.options.heldLocks().run(adapter, this.options.out());
			this.held.add(result);
			raw.write(result.toMap());
		}
	}

	/**
	 * First each lock once without being measured, then all of them forward, backward,
	 * and so on: what changes with time then meets all of them alike.
	 */
	private void run(Fleet fleet, Scenario scenario, RawData raw) throws Exception {
		List<AdapterKind> adapters = new ArrayList<>(this.options.adaptersFor(scenario));
		for (AdapterKind adapter : adapters) {
			// as long as a measured one: where locks go from process to process, code is
			// compiled late
			fleet.run(scenario, adapter, 0, this.options.warmUp(), this.options.seconds());
		}
		for (int repetition = 1; repetition <= this.options.repetitions(); repetition++) {
			for (AdapterKind adapter : adapters) {
				Measurement measurement = fleet.run(scenario, adapter, repetition, this.options.warmUp(),
						this.options.seconds());
				this.measurements.add(measurement);
				raw.write(measurement.toMap());
				System.err.printf("%s %s #%d: %,.0f/s%s%n", scenario.id(), adapter.id(), repetition, measurement.rate(),
						(measurement.violations() > 0) ? " VIOLATED" : "");
			}
			Collections.reverse(adapters);
		}
	}

	private long violations() {
		return this.measurements.stream().mapToLong(Measurement::violations).sum();
	}

}
