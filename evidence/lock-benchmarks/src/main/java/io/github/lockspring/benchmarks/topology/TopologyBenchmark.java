package io.github.lockspring.benchmarks.topology;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.benchmarks.contention.Machine;
import io.github.lockspring.benchmarks.contention.RawData;

/**
 * What an uncontended lock costs on each way of running Redis. All take turns, a fraction
 * of a second each, forward and backward, so other load on the machine happens to all;
 * the ratios are those of one round.
 */
public final class TopologyBenchmark {

	private static final Duration TURN = Duration.ofMillis(300);

	private static final Duration WARM_UP = Duration.ofSeconds(3);

	private TopologyBenchmark() {
	}

	/**
	 * Runs it.
	 * @param args number of rounds (default 40) and directory for the results
	 */
	public static void main(String[] args) throws Exception {
		int rounds = (args.length > 0) ? Integer.parseInt(args[0]) : 40;
		Path out = Path.of((args.length > 1) ? args[1] : "evidence/lock-benchmarks/target/topologies");
		Files.createDirectories(out);
		try (TopologyServers servers = new TopologyServers();
				RawData raw = new RawData(out.resolve("topologies.jsonl"))) {
			Machine machine = Machine.here(Map.of("redis-server", servers.version()));
			raw.write(machine.facts());
			List<Subject> subjects = Subject.all(servers);
			for (Subject subject : subjects) {
				awaitVotes(subject);
				subject.run(WARM_UP);
			}
			Map<Subject, double[]> micros = new LinkedHashMap<>();
			subjects.forEach((subject) -> micros.put(subject, new double[rounds]));
			for (int round = 0; round < rounds; round++) {
				for (Subject subject : inTurn(subjects, round)) {
					long start = System.nanoTime();
					int pairs = subject.run(TURN);
					double each = (System.nanoTime() - start) / 1e3 / pairs;
					Objects.requireNonNull(micros.get(subject))[round] = each;
					raw.write(Map.of("round", round, "topology", subject.name(), "pairs", pairs, "µs", each));
				}
			}
			String report = report(machine, micros, rounds);
			System.out.println(report);
			Files.writeString(out.resolve("topologies.md"), report);
			subjects.forEach(Subject::close);
		}
	}

	/** A server that was just started has no vote for the length of a lease. */
	private static void awaitVotes(Subject subject) throws InterruptedException {
		while (true) {
			try {
				subject.run(Duration.ZERO);
				return;
			}
			catch (LockUnavailableException ex) {
				Thread.sleep(500);
			}
		}
	}

	private static List<Subject> inTurn(List<Subject> subjects, int round) {
		List<Subject> turn = new ArrayList<>(subjects);
		if (round % 2 == 1) {
			Collections.reverse(turn);
		}
		return turn;
	}

	private static String report(Machine machine, Map<Subject, double[]> micros, int rounds) throws IOException {
		StringBuilder text = new StringBuilder("# An uncontended lock, topology by topology\n\n");
		machine.facts()
			.forEach((name, value) -> text.append("- ").append(name).append(": ").append(value).append('\n'));
		text.append(String.format(Locale.ROOT, "%nOne thread, 64 free keys, %d turns of %d ms each.%n%n", rounds,
				TURN.toMillis()));
		text.append("| | µs for a pair, median | quartiles | × one server, median of the rounds | quartiles |\n");
		text.append("| --- | --- | --- | --- | --- |\n");
		double[] plain = micros.values().iterator().next();
		micros.forEach((subject, times) -> {
			double[] ratios = new double[rounds];
			Arrays.setAll(ratios, (round) -> times[round] / plain[round]);
			text.append(String.format(Locale.ROOT, "| %s | %.0f | %.0f … %.0f | %.2f | %.2f … %.2f |%n", subject.name(),
					quantile(times, 0.5), quantile(times, 0.25), quantile(times, 0.75), quantile(ratios, 0.5),
					quantile(ratios, 0.25), quantile(ratios, 0.75)));
		});
		return text.toString();
	}

	private static double quantile(double[] values, double part) {
		double[] sorted = values.clone();
		Arrays.sort(sorted);
		return sorted[(int) Math.round(part * (sorted.length - 1))];
	}

}
