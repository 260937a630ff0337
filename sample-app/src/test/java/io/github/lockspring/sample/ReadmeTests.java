package io.github.lockspring.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code in the README and on the pages for users is code that is compiled and run.
 */
class ReadmeTests {

	private static final Path ROOT = Path.of("..");

	/** Has what other libraries need. */
	private static final Path PEERS = ROOT.resolve("evidence/lock-benchmarks/src/test/java");

	private static final Pattern BLOCK = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

	private static final Pattern BLOCK_OF_HTML = Pattern.compile("<pre[^>]*><code>(.*?)</code></pre>", Pattern.DOTALL);

	@ParameterizedTest
	@MethodSource("pages")
	void everyBlockOfJavaStandsInAFileThatIsCompiled(Path page) {
		List<List<String>> files = new ArrayList<>(compiled(Path.of("src")));
		files.addAll(compiled(PEERS));
		List<List<String>> blocks = blocks(page, BLOCK);
		assertThat(blocks).isNotEmpty()
			.allMatch((block) -> files.stream().anyMatch((file) -> containsInOrder(file, block)));
	}

	/** README, and the pages below these folders that show code. */
	static List<Path> pages() {
		List<Path> pages = new ArrayList<>(files(ROOT.resolve("docs/use"), ".md"));
		pages.addAll(files(ROOT.resolve("docs/reference"), ".md"));
		pages.removeIf((page) -> blocks(page, BLOCK).isEmpty());
		assertThat(pages).hasSizeGreaterThan(5);
		pages.add(ROOT.resolve("README.md"));
		return pages;
	}

	@Test
	void everyLineOfJavaOnThePageStandsInTheSample() {
		Path shop = Path.of("src", "main", "resources", "static", "shop.html");
		List<String> shown = blocks(shop, BLOCK_OF_HTML).stream().flatMap(List::stream).toList();
		assertThat(shown).hasSizeGreaterThan(5);
		assertThat(compiled(Path.of("src", "main", "java")).stream().flatMap(List::stream)).containsAll(shown);
	}

	@Test
	void everyMethodOfTheTesterStandsOnThePageAboutTests() {
		String page = String.join("\n", lines(ROOT.resolve("docs/use/testing.md")));
		List<String> methods = Arrays.stream(LockTester.class.getDeclaredMethods())
			.filter((method) -> Modifier.isPublic(method.getModifiers()))
			.map(Method::getName)
			.toList();
		assertThat(methods).hasSize(9).allMatch((method) -> page.contains("`" + method + "("));
	}

	/** Whether a file has the lines in this order; others may stand between them. */
	private static boolean containsInOrder(List<String> file, List<String> block) {
		int found = 0;
		for (String line : file) {
			if (found < block.size() && line.equals(block.get(found))) {
				found++;
			}
		}
		return found == block.size();
	}

	private static List<List<String>> blocks(Path page, Pattern pattern) {
		return pattern.matcher(String.join("\n", lines(page)))
			.results()
			.map((block) -> block.group(1).lines().map(String::strip).toList())
			.toList();
	}

	private static List<Path> files(Path directory, String end) {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith(end)).sorted().toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<List<String>> compiled(Path directory) {
		return files(directory, ".java").stream().map(ReadmeTests::lines).toList();
	}

	private static List<String> lines(Path file) {
		try {
			return Files.readAllLines(file).stream().map(String::strip).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
