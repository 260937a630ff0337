package io.github.lockspring.lab;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
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
 * Runs every cell some times and writes {@code docs/understand/failure-lab.md}: first all
 * outcomes as a matrix, then those of Lockspring in words, then those of the recipes.
 * Writes it anew after each round.
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

	private String text(int rounds) {
		long runs = this.verdicts.values().stream().mapToLong(List::size).sum();
		long expected = this.verdicts.values().stream().flatMap(List::stream).filter(Verdict::asExpected).count();
		StringBuilder text = new StringBuilder();
		text.append(INTRODUCTION.formatted(rounds, LocalDate.now(), Runtime.getRuntime().availableProcessors(),
				Runtime.version().feature(), this.verdicts.size(), expected, runs));
		text.append("\n### Lockspring\n\n").append(matrix(recipes(true)));
		text.append("\n### Known recipes\n\n").append(matrix(recipes(false)));
		text.append(unexpected()).append("\n### The faults\n\n");
		Faults.ALL.forEach((fault) -> text.append("- **%s**: %s\n".formatted(fault.title(), fault.summary())));
		text.append("\n## Lockspring, fault by fault\n");
		recipes(true).forEach((recipe) -> text.append("\n### " + recipe.title() + "\n\n" + rows(recipe)));
		text.append("\n## Known recipes, fault by fault\n");
		recipes(false).forEach((recipe) -> text.append("\n<details>\n<summary>" + recipe.title() + "</summary>\n\n")
			.append(rows(recipe))
			.append("\n</details>\n"));
		return text.toString();
	}

	private static List<RecipeInfo> recipes(boolean ours) {
		return Recipes.ALL.stream().filter((recipe) -> recipe.ours() == ours).toList();
	}

	/** A row for each fault, a column for each recipe. */
	private String matrix(List<RecipeInfo> recipes) {
		StringBuilder matrix = new StringBuilder("| fault |");
		recipes.forEach((recipe) -> matrix.append(" ").append(recipe.title()).append(" |"));
		matrix.append("\n| --- |").append(" --- |".repeat(recipes.size())).append("\n");
		for (Fault fault : Faults.ALL) {
			matrix.append("| ").append(fault.title()).append(" |");
			recipes.forEach((recipe) -> matrix.append(" ").append(outcome(recipe, fault)).append(" |"));
			matrix.append("\n");
		}
		return matrix.toString();
	}

	private String outcome(RecipeInfo recipe, Fault fault) {
		return Catalogue.cell(recipe.id(), fault.id())
			.map((cell) -> outcome(this.verdicts.getOrDefault(cell, List.of())))
			.orElse("–");
	}

	/** How often each outcome was seen, if there were several. */
	private static String outcome(List<Verdict> outcomes) {
		Map<Code, Long> counts = outcomes.stream()
			.collect(Collectors.groupingBy(Verdict::code, () -> new EnumMap<>(Code.class), Collectors.counting()));
		String all = counts.entrySet()
			.stream()
			.map((entry) -> words(entry.getKey()) + ((counts.size() > 1) ? " (" + entry.getValue() + ")" : ""))
			.collect(Collectors.joining(", "));
		return outcomes.stream().allMatch(Verdict::asExpected) ? all : all + " *";
	}

	private static String words(Code code) {
		String symbol = switch (code) {
			case SAFE -> "✅";
			case REFUSED -> "🛡️";
			case UNAVAILABLE -> "⏸️";
			case STUCK -> "⛔";
			case TWO_HOLDERS -> "⚠️";
			case SOLD_TWICE -> "❌";
			default -> "❔";
		};
		return symbol + " " + code.id().replace('-', ' ');
	}

	private String unexpected() {
		String list = this.verdicts.entrySet()
			.stream()
			.filter((entry) -> !entry.getValue().stream().allMatch(Verdict::asExpected))
			.map((entry) -> unexpected(entry.getKey(), entry.getValue()))
			.collect(Collectors.joining());
		return list.isEmpty() ? "" : "\n\\* Not as expected in each run:\n\n" + list;
	}

	private static String unexpected(Cell cell, List<Verdict> outcomes) {
		List<Verdict> others = outcomes.stream().filter((verdict) -> !verdict.asExpected()).toList();
		String what = others.stream()
			.map((verdict) -> words(verdict.code()) + ": " + verdict.why().get(0))
			.collect(Collectors.joining(" "));
		boolean late = others.stream()
			.allMatch((verdict) -> verdict.code() == Code.UNAVAILABLE || verdict.code() == Code.STUCK);
		String recipe = Catalogue.recipe(cell.recipe()).orElseThrow().title();
		return "- **%s, %s**: expected is %s, and %d of %d runs ended otherwise. %s%s\n".formatted(recipe, title(cell),
				expected(cell), others.size(), outcomes.size(), what, late ? LATE : "");
	}

	private static String title(Cell cell) {
		return Catalogue.fault(cell.fault()).orElseThrow().title();
	}

	private static String expected(Cell cell) {
		Code alternative = cell.alternative();
		return words(cell.expected()) + ((alternative != null) ? " or " + words(alternative) : "");
	}

	private String rows(RecipeInfo recipe) {
		StringBuilder rows = new StringBuilder(recipe.summary());
		rows.append(" Source: ").append(link(recipe)).append(".\n\n");
		rows.append("| fault | outcome | why | failure |\n| --- | --- | --- | --- |\n");
		this.verdicts.forEach((cell, outcomes) -> {
			if (cell.recipe().equals(recipe.id())) {
				rows.append("| %s | %s | %s | %s |\n".formatted(title(cell), outcome(outcomes), cell.theory(),
						failure(cell)));
			}
		});
		return rows.toString();
	}

	private static String failure(Cell cell) {
		String failure = cell.failure();
		return (failure == null) ? "" : "[%s](failures.md#%s)".formatted(failure, failure.toLowerCase(Locale.ROOT));
	}

	private static String link(RecipeInfo recipe) {
		String url = recipe.source().url();
		String relative = url.startsWith("docs/") ? "../" + url.substring("docs/".length()) : "../../" + url;
		return "[" + recipe.source().title() + "](" + (url.startsWith("http") ? url : relative) + ")";
	}

	private static final String LATE = " Nothing was sold twice: shops only had to wait for longer than the two"
			+ " seconds that the lab allows.";

	private static final String INTRODUCTION = """
			# The failure lab

			Each known recipe for locks, and Lockspring, under each fault, for real: two shops in processes of their own sell the seats of one concert under a lock with a lease of one second. Processes and servers are stopped and killed by signals, and networks are proxies that hold bytes back. A fault strikes at the same point of the sale each time. What followed is judged from the recorded events and from the sales in the database alone.

			You can watch each run in the sample ([README](../../README.md)). This page is written by the runs themselves ([how](../../evidence/lock-failure-lab/README.md)): %d runs of each cell, on %s, with %d processors and Java %d. Of %d cells, %d of %d runs ended as expected.

			## The matrix

			| outcome | what it means |
			| --- | --- |
			| ✅ safe | no two shops were inside at the same time, and nothing was sold twice |
			| 🛡️ refused | the database refused a late sale, so nothing was sold twice |
			| ⏸️ unavailable | for more than two seconds shops got errors, and sold nothing |
			| ⛔ stuck | for more than two seconds no shop was inside, although shops asked |
			| ⚠️ two holders | two shops were inside at the same time; nothing was sold twice |
			| ❌ sold twice | a seat was sold twice |
			| – | the fault does not apply to the recipe |

			A number says how often, where the runs of a cell ended differently. Plain Lockspring sells twice where a holder loses its lock and goes on writing: a lock is a lease. The commit guard and fencing are the remedy ([guarantees.md](guarantees.md)).

			The clock of a Redis server cannot be shifted without that of the whole machine, so [F15](failures.md#f15) is not among the faults.
			""";

}
