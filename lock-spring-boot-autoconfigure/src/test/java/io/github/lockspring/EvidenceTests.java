package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Writes {@code docs/understand/evidence.md}: the claims of the documentation, and the
 * tests that show each of them. A claim is a link to that page. A test shows the claim
 * whose code its name begins with (f07, h12), and those that its tags name.
 */
class EvidenceTests {

	private static final String PAGE = "docs/understand/evidence.md";

	private static final Pattern LINK = Pattern.compile("]\\((?:[\\w./]+/)?evidence\\.md#([\\w-]+)\\)");

	private static final Pattern TEST = Pattern.compile("\\s*@(?:Test|ParameterizedTest|RepeatedTest)\\b.*");

	private static final Pattern METHOD = Pattern.compile("\\s*(?:public )?void (\\w+)\\(.*");

	private static final Pattern TAG = Pattern.compile("@Tag\\(\"([^\"]+)\"\\)");

	private static final Pattern CODE = Pattern.compile("([fh])(\\d+)[A-Z].*");

	/** An explanation of the guarantees begins with the columns that it is for. */
	private static final Pattern EXPLANATION = Pattern.compile("- \\*\\*([^*]+)\\*\\*: (.*)");

	/** Each claim with the place that makes it first. */
	private final Map<String, String> claims = claims();

	/** Each claim, or what else a test is marked with, with the tests. */
	private final Map<String, Set<String>> tests = tests();

	private static Map<String, String> claims() {
		Map<String, String> claims = new LinkedHashMap<>();
		for (String page : Documentation.pages()) {
			String name = Path.of(PAGE).getParent().relativize(Path.of(page)).toString();
			String heading = "";
			for (String line : Documentation.lines(page)) {
				heading = line.startsWith("#") ? line : heading;
				for (MatchResult link : LINK.matcher(line).results().toList()) {
					claims.putIfAbsent(link.group(1), "[%s](%s#%s)".formatted(heading.replaceFirst("#+ ", ""), name,
							Documentation.anchor(heading)));
				}
			}
		}
		return claims;
	}

	private static Map<String, Set<String>> tests() {
		Map<String, Set<String>> tests = new TreeMap<>();
		Documentation.testClasses().forEach((source) -> {
			String type = source.getFileName().toString().replace(".java", "");
			Set<String> marks = new TreeSet<>();
			for (String line : Documentation.read(source).lines().toList()) {
				if (TEST.matcher(line).matches() || line.contains("class ")) {
					marks.clear();
				}
				TAG.matcher(line).results().forEach((tag) -> marks.add(tag.group(1)));
				Matcher method = METHOD.matcher(line);
				if (method.matches()) {
					Matcher code = CODE.matcher(method.group(1));
					if (code.matches()) {
						marks.add("%s%02d".formatted(code.group(1), Integer.parseInt(code.group(2))));
					}
					marks.forEach((mark) -> tests.computeIfAbsent(mark, (key) -> new TreeSet<>())
						.add("`" + type + "#" + method.group(1) + "`"));
					marks.clear();
				}
			}
		});
		return tests;
	}

	@Test
	void pageListsTheTestsOfEachClaim() throws IOException {
		List<String> lines = new ArrayList<>(List.of("# Evidence", "",
				"Each claim of the documentation, and the tests that show it. The tests of one claim run with "
						+ "`mvn -Pci verify -Dgroups=overrun-fixed`, those of a failure or a hole also by their names. "
						+ "`EvidenceTests` writes this page with `-Devidence=write`.",
				"", "| claim | made in | tests |", "| --- | --- | --- |"));
		this.claims.forEach((claim, place) -> lines.add("| <a id=\"%s\"></a>%1$s | %s | %s |".formatted(claim, place,
				String.join(", ", this.tests.getOrDefault(claim, Set.of())))));
		if ("write".equals(System.getProperty("evidence"))) {
			Files.write(Documentation.ROOT.resolve(PAGE), lines);
		}
		assertThat(Documentation.lines(PAGE)).isEqualTo(lines);
	}

	@Test
	void everyClaimHasATestAndEveryTestThatIsMarkedAClaim() {
		assertThat(this.claims).hasSizeGreaterThan(200);
		assertThat(this.tests.keySet()).containsExactlyInAnyOrderElementsOf(this.claims.keySet());
	}

	@Test
	void everyFailureAndEveryHoleHasARowWithItsTests() {
		assertThat(firstCells("docs/understand/failures.md", "# Failures and their remedies"))
			.containsExactlyElementsOf(numbered(30, "<a id=\"f%02d\"></a>[F%1$02d](evidence.md#f%1$02d)"));
		assertThat(firstCells("docs/understand/protocol-rules.md", "## Holes that the protocol closes"))
			.containsExactlyElementsOf(numbered(38, "<a id=\"h%02d\"></a>[H%1$d](evidence.md#h%1$02d)"));
	}

	@Test
	void everyRuleIsFoundByTheModelOrByTests() {
		List<List<String>> rules = rows("docs/understand/protocol-rules.md", "## Rules, and what finds their absence");
		assertThat(rules).hasSizeGreaterThan(30)
			.allMatch((rule) -> rule.get(3).equals("model") || LINK.matcher(rule.get(3)).find());
	}

	@ParameterizedTest
	@CsvSource({ "guarantees.md, ## What happens when, 11",
			"guarantees-other-stores.md, '## What happens when, on other stores', 13" })
	void everyCellOfTheGuaranteesIsExplainedWithTests(String name, String heading, int least) {
		List<String> page = Documentation.lines("docs/understand/" + name);
		Map<String, Map<String, String>> sections = sections(page);
		List<List<String>> table = Documentation.table(page, heading);
		List<List<String>> rows = table.subList(2, table.size());
		List<String> unexplained = new ArrayList<>();
		rows.forEach((row) -> {
			Map<String, String> explanations = sections.getOrDefault(row.get(0), Map.of());
			table.get(0)
				.stream()
				.skip(1)
				.filter((column) -> !LINK.matcher(explanations.getOrDefault(column, "")).find())
				.forEach((column) -> unexplained.add(row.get(0) + ", " + column));
		});
		assertThat(unexplained).isEmpty();
		assertThat(rows).hasSizeGreaterThanOrEqualTo(least);
		assertThat(sections.keySet()).as("sections, in the order of the table")
			.containsExactlyElementsOf(rows.stream().map((row) -> row.get(0)).toList());
	}

	@Test
	void everyTestClassThatAPageNamesExists() {
		Set<String> existing = Documentation.testClasses()
			.stream()
			.map((source) -> source.getFileName().toString().replace(".java", ""))
			.collect(Collectors.toSet());
		Pattern type = Pattern.compile("`(\\w+Tests)`");
		List<String> named = Stream.concat(Stream.of("README.md", "CONTRIBUTING.md"), Documentation.pages().stream())
			.flatMap((page) -> Documentation.lines(page).stream())
			.flatMap((line) -> type.matcher(line).results().map((match) -> match.group(1)))
			.toList();
		assertThat(named).isNotEmpty();
		assertThat(existing).containsAll(named);
	}

	/** What each section explains, by column. */
	private static Map<String, Map<String, String>> sections(List<String> page) {
		Map<String, Map<String, String>> sections = new LinkedHashMap<>();
		Map<String, String> section = new TreeMap<>();
		for (String line : page) {
			if (line.startsWith("#")) {
				section = new TreeMap<>();
			}
			if (line.startsWith("### ")) {
				sections.put(line.substring(4), section);
			}
			Matcher explanation = EXPLANATION.matcher(line);
			if (explanation.matches()) {
				for (String column : explanation.group(1).split("; ")) {
					section.put(column, explanation.group(2));
				}
			}
		}
		return sections;
	}

	private static List<String> firstCells(String page, String heading) {
		return rows(page, heading).stream().map((row) -> row.get(0)).toList();
	}

	private static List<List<String>> rows(String page, String heading) {
		List<List<String>> table = Documentation.table(Documentation.lines(page), heading);
		return table.subList(2, table.size());
	}

	private static List<String> numbered(int count, String format) {
		return IntStream.rangeClosed(1, count).mapToObj((i) -> format.formatted(i)).toList();
	}

}
