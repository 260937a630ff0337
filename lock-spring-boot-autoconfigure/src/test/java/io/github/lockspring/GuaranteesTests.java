package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds {@code docs/guarantees.md} to its word: each cell of its table is explained below
 * it, with a test that exists.
 */
class GuaranteesTests {

	private static final List<Path> SOURCES = List.of(Path.of("..", "lock-core", "src", "test", "java"),
			Path.of("..", "lock-redis", "src", "test", "java"), Path.of("..", "lock-jdbc", "src", "test", "java"),
			Path.of("..", "lock-test-support", "src", "main", "java"),
			Path.of("..", "lock-test-support", "src", "test", "java"), Path.of("src", "test", "java"),
			Path.of("..", "sample-app", "src", "test", "java"));

	private static final Pattern METHOD = Pattern
		.compile("@(?:Test|ParameterizedTest)\\b\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*void (\\w+)\\(");

	private static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

	/** An explanation begins with the columns that it is for. */
	private static final Pattern EXPLANATION = Pattern.compile("- \\*\\*([^*]+)\\*\\*: (.*)");

	/** What is not promised needs no test. */
	private static final String NOT_YET = "not covered yet";

	private final List<String> page = read();

	private static List<String> read() {
		try {
			return Files.readAllLines(Path.of("..", "docs", "guarantees.md"));
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void everyTestThatThePageNamesExists() throws IOException {
		List<String> named = this.page.stream()
			.flatMap((line) -> TEST.matcher(line).results())
			.map(MatchResult::group)
			.toList();
		assertThat(named).hasSizeGreaterThan(60);
		assertThat(tests()).containsAll(named);
	}

	@Test
	void everyCellOfTheTableIsExplainedWithATest() {
		List<List<String>> table = table();
		List<String> columns = table.get(0);
		Map<String, Map<String, String>> sections = sections();
		List<String> unexplained = new ArrayList<>();
		Set<String> rows = new LinkedHashSet<>();
		for (List<String> row : table.subList(2, table.size())) {
			rows.add(row.get(0));
			Map<String, String> explanations = sections.getOrDefault(row.get(0), Map.of());
			for (int i = 1; i < columns.size(); i++) {
				String explanation = explanations.getOrDefault(columns.get(i), "");
				if (!row.get(i).equals(NOT_YET) && !TEST.matcher(explanation).find()) {
					unexplained.add(row.get(0) + ", " + columns.get(i));
				}
			}
		}
		assertThat(unexplained).isEmpty();
		assertThat(rows).hasSizeGreaterThan(8);
		assertThat(sections.keySet()).as("sections, in the order of the table").containsExactlyElementsOf(rows);
	}

	/** The table of failures, with its header and the line below it. */
	private List<List<String>> table() {
		List<List<String>> table = new ArrayList<>();
		for (String line : this.page.subList(this.page.indexOf("## What happens when"), this.page.size())) {
			if (line.startsWith("|")) {
				table.add(Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList());
			}
			else if (!table.isEmpty()) {
				break;
			}
		}
		return table;
	}

	/** What each section explains, by column. */
	private Map<String, Map<String, String>> sections() {
		Map<String, Map<String, String>> sections = new LinkedHashMap<>();
		Map<String, String> section = new HashMap<>();
		for (String line : this.page) {
			if (line.startsWith("#")) {
				section = new HashMap<>();
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

	/** All tests there are, written as the page does. */
	private static Set<String> tests() throws IOException {
		Set<String> tests = new HashSet<>();
		for (Path root : SOURCES) {
			try (Stream<Path> sources = Files.walk(root)) {
				for (Path source : sources.filter((path) -> path.toString().endsWith("Tests.java")).toList()) {
					String type = source.getFileName().toString().replace(".java", "");
					METHOD.matcher(Files.readString(source))
						.results()
						.forEach((method) -> tests.add("`" + type + "#" + method.group(1) + "`"));
				}
			}
		}
		return tests;
	}

}
