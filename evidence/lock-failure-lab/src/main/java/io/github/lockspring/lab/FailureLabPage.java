package io.github.lockspring.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.github.lockspring.lab.history.Code;
import io.github.lockspring.lab.history.Verdict;

/**
 * Runs every cell some times and writes {@code docs/understand/failure-lab.md}. Writes it anew after
 * each round.
 */
public final class FailureLabPage {

	private static final int SHOPS = 2;

	private final Map<Cell, List<Verdict>> verdicts = new LinkedHashMap<>();

	private FailureLabPage() {
		// in the order of the page, whatever the order of the runs
		Catalogue.cells().forEach((cell) -> this.verdicts.put(cell, new ArrayList<>()));
	}

	/**
	 * Makes the page.
	 * @param args the number of rounds, the file to write, and how many cells are run
	 * side by side, each in a lab of its own
	 * @throws Exception if the file cannot be written, or a run ends without a verdict
	 */
	public static void main(String[] args) throws Exception {
		int rounds = Integer.parseInt(args[0]);
		FailureLabPage page = new FailureLabPage();
		List<Lab> labs = Stream.generate(Lab::new).limit(Integer.parseInt(args[2])).toList();
		for (int round = 1; round <= rounds; round++) {
			page.run(labs);
			Files.writeString(Path.of(args[1]), page.text(round));
		}
		labs.forEach(Lab::close);
	}

	private void run(List<Lab> labs) {
		Queue<Cell> cells = new ConcurrentLinkedQueue<>(Catalogue.cells());
		CompletableFuture
			.allOf(labs.stream()
				.map((lab) -> CompletableFuture.runAsync(() -> run(lab, cells), (task) -> new Thread(task).start()))
				.toArray(CompletableFuture[]::new))
			.join();
	}

	private void run(Lab lab, Queue<Cell> cells) {
		Cell cell;
		while ((cell = cells.poll()) != null) {
			LabRun run = lab.beginReserved(cell, SHOPS);
			while (!run.isFinished()) {
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
			}
			record(cell, run);
		}
	}

	private synchronized void record(Cell cell, LabRun run) {
		Verdict verdict = run.verdict();
		if (verdict == null) {
			throw new IllegalStateException("Run " + run.id() + " has no verdict");
		}
		this.verdicts.computeIfAbsent(cell, (key) -> new ArrayList<>()).add(verdict);
		System.out.printf("%s %s: %s, %s expected%s%n", cell.recipe(), cell.fault(), verdict.code().id(),
				cell.expected().id(), verdict.asExpected() ? "" : " <- " + verdict.why());
	}

	private String text(int rounds) throws IOException {
		long runs = this.verdicts.values().stream().mapToLong(List::size).sum();
		long expected = this.verdicts.values().stream().flatMap(List::stream).filter(Verdict::asExpected).count();
		StringBuilder text = new StringBuilder();
		text.append(INTRODUCTION.formatted(rounds, LocalDate.now(), Runtime.getRuntime().availableProcessors(),
				Runtime.version().feature(), this.verdicts.size(), expected, runs));
		text.append(unexpected());
		for (RecipeInfo recipe : Recipes.ALL) {
			text.append("\n## ").append(recipe.title()).append("\n\n").append(recipe.summary());
			text.append(" Source: ").append(link(recipe)).append(".\n\n");
			text.append(
					"| fault | expected | outcomes | as expected | why | failure |\n| --- | --- | --- | --- | --- | --- |\n");
			this.verdicts.forEach((cell, outcomes) -> {
				if (cell.recipe().equals(recipe.id())) {
					text.append(row(cell, outcomes));
				}
			});
		}
		return text.toString();
	}

	private static String link(RecipeInfo recipe) {
		String url = recipe.source().url();
		String relative = url.startsWith("docs/") ? "../" + url.substring("docs/".length()) : "../../" + url;
		return "[" + recipe.source().title() + "](" + (url.startsWith("http") ? url : relative) + ")";
	}

	private static String row(Cell cell, List<Verdict> outcomes) {
		Map<Code, Long> counts = outcomes.stream()
			.collect(Collectors.groupingBy(Verdict::code, () -> new EnumMap<>(Code.class), Collectors.counting()));
		String list = counts.entrySet()
			.stream()
			.map((entry) -> entry.getValue() + " × " + words(entry.getKey()))
			.collect(Collectors.joining(", "));
		long expected = outcomes.stream().filter(Verdict::asExpected).count();
		String failure = (cell.failure() == null) ? ""
				: "[" + cell.failure() + "](failures.md#" + cell.failure().toLowerCase(java.util.Locale.ROOT) + ")";
		return "| " + Catalogue.fault(cell.fault()).orElseThrow().title() + " | " + expected(cell) + " | " + list
				+ " | " + expected + " of " + outcomes.size() + " | " + cell.theory() + " | " + failure + " |\n";
	}

	private String unexpected() {
		String list = this.verdicts.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().stream().allMatch(Verdict::asExpected))
			.map((entry) -> "- " + entry.getKey().recipe() + ", " + entry.getKey().fault() + ": "
					+ entry.getValue()
						.stream()
						.filter((verdict) -> !verdict.asExpected())
						.map((verdict) -> words(verdict.code()) + " (" + verdict.why().get(0) + ")")
						.collect(Collectors.joining("; "))
					+ "\n")
			.collect(Collectors.joining());
		return list.isEmpty() ? "" : "\nNot as expected:\n\n" + list;
	}

	private static String expected(Cell cell) {
		Code alternative = cell.alternative();
		return words(cell.expected()) + ((alternative != null) ? " or " + words(alternative) : "");
	}

	private static String words(Code code) {
		return code.id().replace('-', ' ');
	}

	private static final String INTRODUCTION = """
			# The failure lab

			The sample's failure lab runs each known recipe for locks under each fault, for real: two shops in JVMs of their own sell the seats of one concert, servers and shops are stopped and killed by signals, and networks are proxies that hold bytes back. A lease is 1 s. Each fault strikes at the same point of the sale each time, and what follows is judged from the recorded events and the sales in the database alone (`Findings` has the rules, `FindingsTests` tests them). This page is written by the runs themselves; [lock-failure-lab](../lock-failure-lab/README.md) has the command.

			- **safe**: no two shops were inside at the same time, and nothing was sold twice.
			- **two holders**: two shops were inside at the same time. **sold twice**: they sold a seat twice.
			- **stuck**: no shop sold for longer than a lease and a second, although shops asked. **unavailable**: the same, with errors.
			- **refused**: the database refused a late sale, so nothing was sold twice.

			The wall clock of a process is the one that the lab gives to its recipe. That of a Redis server cannot be shifted without shifting it for the whole machine, so [F15](failures.md#f15) is not among the faults; its tests are named there.

			%d runs in a row of each cell, on %s, with %d processors and Java %d: %d cells, of whose runs %d of %d ended as expected.
			""";

}
