package io.github.lockspring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/guarantees.md} explains each cell of its tables with a test,
 * and that each test it names exists.
 */
class GuaranteesTests {

	/** An explanation begins with the columns that it is for. */
	private static final Pattern EXPLANATION = Pattern.compile("- \\*\\*([^*]+)\\*\\*: (.*)");

	/** What is not promised needs no test. */
	private static final String NOT_YET = "not covered yet";

	private final List<String> page = Documentation.lines("docs/guarantees.md");

	@Test
	void everyTestThatThePageNamesExists() {
		List<String> named = Documentation.namedTests(this.page);
		assertThat(named).hasSizeGreaterThan(60);
		assertThat(Documentation.existingTests()).containsAll(named);
	}

	@Test
	void everyCellOfTheTablesIsExplainedWithATest() {
		Map<String, Map<String, String>> sections = sections();
		List<String> unexplained = new ArrayList<>();
		List<String> rows = new ArrayList<>();
		for (String heading : List.of("## What happens when", "## What happens when, on other stores")) {
			List<List<String>> table = Documentation.table(this.page, heading);
			List<String> columns = table.get(0);
			for (List<String> row : table.subList(2, table.size())) {
				rows.add(row.get(0));
				Map<String, String> explanations = sections.getOrDefault(row.get(0), Map.of());
				for (int i = 1; i < columns.size(); i++) {
					String explanation = explanations.getOrDefault(columns.get(i), "");
					if (!row.get(i).equals(NOT_YET) && !Documentation.TEST.matcher(explanation).find()) {
						unexplained.add(row.get(0) + ", " + columns.get(i));
					}
				}
			}
		}
		assertThat(unexplained).isEmpty();
		assertThat(rows).hasSizeGreaterThan(20);
		assertThat(sections.keySet()).as("sections, in the order of the tables").containsExactlyElementsOf(rows);
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

}
