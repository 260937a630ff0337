package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the pages in {@code docs/adr} follow one template, are in its index, and
 * name tests that exist.
 */
class DecisionRecordsTests {

	private static final Path DIRECTORY = Documentation.ROOT.resolve("docs").resolve("adr");

	@Test
	void everyRecordFollowsTheTemplate() throws IOException {
		assertThat(records()).hasSizeGreaterThan(14).allSatisfy((name) -> {
			List<String> lines = Documentation.lines("docs/adr/" + name);
			int number = Integer.parseInt(name.substring(0, 4));
			assertThat(lines.get(0)).startsWith("# " + number + ". ");
			assertThat(lines.stream().filter((line) -> line.startsWith("## "))).containsExactly("## Status",
					"## Context", "## Decision", "## Consequences", "## Date");
			assertThat(part(lines, "## Status")).matches("Accepted\\.|Superseded by \\d+\\.");
			assertThat(part(lines, "## Date")).matches("\\d{4}-\\d\\d-\\d\\d");
		});
	}

	@Test
	void indexListsEveryRecordWithItsTitleAndStatus() throws IOException {
		List<String> expected = records().stream().map(DecisionRecordsTests::indexRow).toList();
		assertThat(Documentation.lines("docs/adr/README.md").stream().filter((line) -> line.matches("\\| \\d.*")))
			.containsExactlyElementsOf(expected);
	}

	@Test
	void everyTestThatARecordNamesExists() throws IOException {
		List<String> named = records().stream()
			.flatMap((name) -> Documentation.namedTests(Documentation.lines("docs/adr/" + name)).stream())
			.toList();
		assertThat(named).isNotEmpty();
		assertThat(Documentation.existingTests()).containsAll(named);
	}

	private static String indexRow(String name) {
		List<String> lines = Documentation.lines("docs/adr/" + name);
		String[] title = lines.get(0).substring("# ".length()).split("\\. ", 2);
		String status = part(lines, "## Status").replace(".", "").toLowerCase(Locale.ROOT);
		return "| %s | [%s](%s) | %s |".formatted(title[0], title[1], name, status);
	}

	/** The first line of a part. */
	private static String part(List<String> lines, String heading) {
		return lines.get(lines.indexOf(heading) + 2);
	}

	private static List<String> records() throws IOException {
		try (Stream<Path> files = Files.list(DIRECTORY)) {
			return files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.matches("\\d{4}-.*\\.md"))
				.sorted()
				.toList();
		}
	}

}
