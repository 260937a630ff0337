package io.github.lockspring.sample;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Code in the README is code that is compiled and run.
 */
class ReadmeTests {

	private static final Path ROOT = Path.of("..");

	@ParameterizedTest
	@ValueSource(strings = { "README.md", "docs/reference/README.md" })
	void everyLineOfJavaStandsInTheSampleOrItsTests(String page) throws IOException {
		Set<String> compiled = compiled(Path.of("src"));
		Matcher blocks = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
			.matcher(Files.readString(ROOT.resolve(page)));
		List<String> shown = blocks.results().flatMap((block) -> block.group(1).lines()).map(String::strip).toList();
		assertThat(shown).hasSizeGreaterThan(3);
		assertThat(compiled).containsAll(shown);
	}

	@Test
	void everyLineOfJavaOnThePageStandsInTheSample() throws IOException {
		Set<String> compiled = compiled(Path.of("src", "main", "java"));
		Matcher blocks = Pattern.compile("<pre[^>]*><code>(.*?)</code></pre>", Pattern.DOTALL)
			.matcher(Files.readString(Path.of("src", "main", "resources", "static", "shop.html")));
		List<String> shown = blocks.results().flatMap((block) -> block.group(1).lines()).map(String::strip).toList();
		assertThat(shown).hasSizeGreaterThan(5);
		assertThat(compiled).containsAll(shown);
	}

	private static Set<String> compiled(Path directory) throws IOException {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith(".java"))
				.flatMap(ReadmeTests::lines)
				.collect(Collectors.toSet());
		}
	}

	private static Stream<String> lines(Path file) {
		try {
			return Files.readAllLines(file).stream().map(String::strip);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
