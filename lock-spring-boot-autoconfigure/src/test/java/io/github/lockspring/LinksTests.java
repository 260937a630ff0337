package io.github.lockspring;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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
		Stream.concat(Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md"), Documentation.pages().stream())
			.forEach((page) -> {
				Path directory = Path.of(page).resolveSibling("");
				for (String line : Documentation.lines(page)) {
					Matcher link = LINK.matcher(line);
					while (link.find()) {
						String target = link.group(1).isEmpty() ? page
								: directory.resolve(link.group(1)).normalize().toString();
						if (!leadsSomewhere(target, link.group(2))) {
							broken.add(page + ": " + link.group());
						}
					}
				}
			});
		assertThat(broken).isEmpty();
	}

	private static boolean leadsSomewhere(String target, String anchor) {
		return Files.exists(Documentation.ROOT.resolve(target))
				&& (anchor == null || Documentation.anchors(Documentation.lines(target)).contains(anchor));
	}

}
