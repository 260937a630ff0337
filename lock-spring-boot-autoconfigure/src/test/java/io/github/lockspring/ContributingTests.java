package io.github.lockspring;

import java.nio.file.Files;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that the table of changes in {@code CONTRIBUTING.md} names files that exist.
 */
class ContributingTests {

	private static final Pattern FILE = Pattern.compile("\\[`([\\w.-]+)`]\\(([^)]+)\\)");

	@Test
	void everyChangeNamesAFileThatExists() {
		List<List<String>> table = Documentation.table(Documentation.lines("CONTRIBUTING.md"),
				"## To change X, open Y");
		List<List<String>> changes = table.subList(2, table.size());
		assertThat(changes).hasSizeGreaterThan(20)
			.allSatisfy((change) -> assertThat(FILE.matcher(change.get(1)).find()).as(change.get(0)).isTrue());
		List<MatchResult> files = changes.stream().flatMap((change) -> FILE.matcher(change.get(1)).results()).toList();
		assertThat(files).allSatisfy((file) -> assertThat(file.group(2)).contains("/" + file.group(1)));
		assertThat(files.stream()
			.map((file) -> file.group(2))
			.filter((file) -> !Files.isRegularFile(Documentation.ROOT.resolve(file)))).isEmpty();
	}

}
