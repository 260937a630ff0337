package io.github.lockspring;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that {@code docs/failures.md} and the holes in {@code docs/protocol.md} are
 * complete, and that each test they name exists.
 */
class FailuresTests {

	private static final int FAILURES = 30;

	private static final int HOLES = 38;

	/** The code at the beginning of a test's name, such as f07 or h12. */
	private static final Pattern CODE = Pattern.compile("`\\w+#([fh])(\\d+)[A-Z]\\w*`");

	private final List<List<String>> failures = rows("docs/failures.md", "# Failures and their remedies");

	private final List<List<String>> holes = rows("docs/protocol.md", "## Holes that the protocol closes");

	private static List<List<String>> rows(String page, String heading) {
		List<List<String>> table = Documentation.table(Documentation.lines(page), heading);
		return table.subList(2, table.size());
	}

	@Test
	void everyFailureHasARowWithATestOfItsName() {
		assertThat(this.failures.stream().map((row) -> row.get(0)))
			.containsExactlyElementsOf(numbered(FAILURES, "<a id=\"f%02d\"></a>F%1$02d"));
		assertThat(this.failures).allSatisfy((row) -> assertThat(row).hasSize(5).doesNotContain(""));
		List<String> untested = new ArrayList<>();
		for (int i = 0; i < FAILURES; i++) {
			if (!this.failures.get(i).get(4).contains("#f%02d".formatted(i + 1))) {
				untested.add(this.failures.get(i).get(0));
			}
		}
		assertThat(untested).isEmpty();
	}

	@Test
	void everyHoleHasARow() {
		assertThat(this.holes.stream().map((row) -> row.get(0)))
			.containsExactlyElementsOf(numbered(HOLES, "<a id=\"h%02d\"></a>H%1$d"));
		assertThat(this.holes).allSatisfy((row) -> assertThat(row).hasSize(4).doesNotContain(""));
	}

	@Test
	void everyRuleIsFoundByTheModelOrATestThatExists() {
		List<String> finders = rows("docs/protocol.md", "## Rules, and what finds their absence").stream()
			.map((row) -> row.get(row.size() - 1))
			.toList();
		assertThat(finders).hasSizeGreaterThan(30)
			.allMatch((finder) -> finder.equals("model") || !Documentation.namedTests(List.of(finder)).isEmpty());
		assertThat(Documentation.existingTests()).containsAll(Documentation.namedTests(finders));
	}

	@Test
	void everyTestThatIsNamedExists() {
		List<String> named = Documentation.namedTests(Stream.concat(this.failures.stream(), this.holes.stream())
			.map((row) -> row.get(row.size() - 1))
			.toList());
		assertThat(named).hasSizeGreaterThan(100);
		assertThat(Documentation.existingTests()).containsAll(named);
	}

	@Test
	void everyCodeInTheNameOfATestIsExplained() {
		List<String> unknown = Documentation.existingTests().stream().filter((test) -> {
			Matcher code = CODE.matcher(test);
			return code.matches() && Integer.parseInt(code.group(2)) > (code.group(1).equals("f") ? FAILURES : HOLES);
		}).toList();
		assertThat(unknown).isEmpty();
	}

	private static List<String> numbered(int count, String format) {
		return IntStream.rangeClosed(1, count).mapToObj((i) -> format.formatted(i)).toList();
	}

}
