package io.github.lockspring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the project's documentation.
 */
public final class Documentation {

	/** The directory of the project, seen from a module. */
	static final Path ROOT = Path.of("..");

	private static final Pattern ANCHOR = Pattern.compile("<a id=\"([^\"]+)\">");

	private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

	private Documentation() {
	}

	/**
	 * Returns the lines of a page.
	 * @param page the page's path below the project's directory
	 */
	public static List<String> lines(String page) {
		return read(ROOT.resolve(page)).lines().toList();
	}

	/**
	 * Returns the cells of each line of the first table after a heading: the header, the
	 * line below it, and the rows.
	 */
	public static List<List<String>> table(List<String> page, String heading) {
		int start = page.indexOf(heading);
		if (start < 0) {
			throw new IllegalArgumentException("There is no heading '" + heading + "'");
		}
		return page.stream()
			.skip(start)
			.dropWhile((line) -> !line.startsWith("|"))
			.takeWhile((line) -> line.startsWith("|"))
			.map((line) -> Arrays.stream(line.substring(1).split("\\|")).map(String::trim).toList())
			.toList();
	}

	/**
	 * Returns the pages below {@code docs}, as paths below the project's directory.
	 */
	static List<String> pages() {
		return files(ROOT.resolve("docs"), ".md").stream()
			.map((file) -> ROOT.relativize(file).toString())
			.sorted()
			.toList();
	}

	/**
	 * Returns the anchors of a page; headings have those that GitHub gives them.
	 */
	static List<String> anchors(List<String> lines) {
		List<String> anchors = new ArrayList<>();
		Map<String, Integer> uses = new HashMap<>();
		for (String line : lines) {
			ANCHOR.matcher(line).results().forEach((anchor) -> anchors.add(anchor.group(1)));
			if (line.startsWith("#")) {
				String anchor = anchor(line);
				int use = uses.merge(anchor, 1, Integer::sum);
				anchors.add((use > 1) ? anchor + "-" + (use - 1) : anchor);
			}
		}
		return anchors;
	}

	/**
	 * Returns the anchor of a heading that no other one of its page is the same as.
	 */
	static String anchor(String heading) {
		return heading.replaceFirst("#+ ", "")
			.toLowerCase(Locale.ROOT)
			.replaceAll("[^\\p{L}\\p{N}_ -]", "")
			.replace(' ', '-');
	}

	/**
	 * Returns the directories of the modules that are jars.
	 */
	static List<Path> modules() {
		return MODULE.matcher(read(ROOT.resolve("pom.xml")))
			.results()
			.map((module) -> ROOT.resolve(module.group(1)))
			.filter((module) -> !read(module.resolve("pom.xml")).contains("<packaging>pom</packaging>"))
			.toList();
	}

	/**
	 * Returns the sources of all test classes; abstract ones of lock-test-support are
	 * among its main code.
	 */
	static List<Path> testClasses() {
		return modules().stream().flatMap((module) -> files(module.resolve("src"), "Tests.java").stream()).toList();
	}

	static String read(Path path) {
		try {
			return Files.readString(path);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/**
	 * Returns the files below a directory whose names end so; none if there is no such
	 * directory.
	 */
	static List<Path> files(Path directory, String end) {
		if (!Files.isDirectory(directory)) {
			return List.of();
		}
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith(end)).toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
