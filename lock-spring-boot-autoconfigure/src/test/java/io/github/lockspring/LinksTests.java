package io.github.lockspring;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that every relative link in the documentation leads to a file and, where it
 * names one, to an anchor.
 */
class LinksTests {

	private static final Pattern LINK = Pattern.compile("]\\(([^):\\s#]*)(?:#([^)\\s]*))?\\)");

	@Test
	void everyLinkLeadsToAFileAndAnAnchor() {
		List<String> broken = new ArrayList<>();
		Stream
			.of(Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md"),
					readmes(), Documentation.pages().stream())
			.flatMap((pages) -> pages)
			.forEach((page) -> Documentation.lines(page)
				.stream()
				.flatMap((line) -> LINK.matcher(line).results())
				.filter((link) -> !leadsSomewhere(page, link.group(1), link.group(2)))
				.forEach((link) -> broken.add(page + ": " + link.group())));
		assertThat(broken).isEmpty();
	}

	private static Stream<String> readmes() {
		return Documentation.modules()
			.stream()
			.map((module) -> module.resolve("README.md"))
			.filter(Files::exists)
			.map((readme) -> Documentation.ROOT.relativize(readme).toString());
	}

	private static boolean leadsSomewhere(String page, String path, @Nullable String anchor) {
		String target = path.isEmpty() ? page : Path.of(page).resolveSibling(path).normalize().toString();
		return Files.exists(Documentation.ROOT.resolve(target))
				&& (anchor == null || Documentation.anchors(Documentation.lines(target)).contains(anchor));
	}

}
