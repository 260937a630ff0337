package io.github.lockspring;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Reads the project's documentation and the tests that it may name.
 */
public final class Documentation {

	/** The directory of the project, seen from a module. */
	static final Path ROOT = Path.of("..");

	/** A test as the documentation writes it: its class and its method. */
	static final Pattern TEST = Pattern.compile("`(\\w+)#(\\w+)`");

	private static final Pattern METHOD = Pattern
		.compile("@(?:Test|ParameterizedTest)\\b\\s*(?:@\\w+(?:\\([^)]*\\))?\\s+)*void (\\w+)\\(");

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
	 * Returns the tests that some lines name, as they write them.
	 */
	static List<String> namedTests(List<String> lines) {
		return lines.stream().flatMap((line) -> TEST.matcher(line).results()).map(MatchResult::group).toList();
	}

	/**
	 * Returns all tests of the project, written as the documentation does.
	 */
	static Set<String> existingTests() {
		Set<String> tests = new HashSet<>();
		for (Path source : sources()) {
			String type = source.getFileName().toString().replace(".java", "");
			METHOD.matcher(read(source))
				.results()
				.forEach((method) -> tests.add("`" + type + "#" + method.group(1) + "`"));
		}
		return tests;
	}

	/** Abstract test classes of lock-test-support are among its main code. */
	private static List<Path> sources() {
		try (Stream<Path> modules = Files.list(ROOT)) {
			return modules.map((module) -> module.resolve("src"))
				.filter(Files::isDirectory)
				.flatMap(Documentation::testClasses)
				.toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static Stream<Path> testClasses(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			return files.filter((file) -> file.toString().endsWith("Tests.java")).toList().stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path path) {
		try {
			return Files.readString(path);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
