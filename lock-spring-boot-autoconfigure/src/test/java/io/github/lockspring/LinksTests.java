package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Checks that every relative link in the documentation leads to a file and, where it
 * names one, to an anchor. {@link ContributingTests} checks the links to sources.
 */
class LinksTests {

	private static final Pattern LINK = Pattern.compile("]\\(([^):\\s#]*)(?:#([^)\\s]*))?\\)");

	private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\">");

	@Test
	void everyLinkLeadsToAFileAndAnAnchor() throws IOException {
		List<String> broken = new ArrayList<>();
		for (String page : pages()) {
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
		}
		assertThat(broken).isEmpty();
	}

	private static boolean leadsSomewhere(String target, String anchor) {
		if (target.contains("/src/")) {
			return true;
		}
		if (!Files.exists(Documentation.ROOT.resolve(target))) {
			return false;
		}
		return anchor == null || anchors(Documentation.lines(target)).contains(anchor);
	}

	/** Headings have the anchors that GitHub gives them. */
	private static List<String> anchors(List<String> lines) {
		List<String> anchors = new ArrayList<>();
		Map<String, Integer> uses = new HashMap<>();
		for (String line : lines) {
			ANCHOR.matcher(line).results().forEach((anchor) -> anchors.add(anchor.group(1)));
			if (line.startsWith("#")) {
				String heading = line.replaceFirst("#+ ", "").toLowerCase(Locale.ROOT);
				String anchor = heading.replaceAll("[^\\p{L}\\p{N}_ -]", "").replace(' ', '-');
				int use = uses.merge(anchor, 1, Integer::sum);
				anchors.add((use > 1) ? anchor + "-" + (use - 1) : anchor);
			}
		}
		return anchors;
	}

	private static List<String> pages() throws IOException {
		try (Stream<Path> docs = Files.walk(Documentation.ROOT.resolve("docs"))) {
			Stream<String> below = docs.filter((file) -> file.toString().endsWith(".md"))
				.map((file) -> Documentation.ROOT.relativize(file).toString());
			return Stream.concat(Stream.of("README.md", "CONTRIBUTING.md", "CHANGELOG.md"), below).sorted().toList();
		}
	}

}
