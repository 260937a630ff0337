package io.github.lockspring.testsupport.process;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Directories below {@code target} for the files of a test run. Each JVM has its own, so
 * that two builds of one checkout do not disturb each other.
 *
 * @since 0.1
 */
public final class RunDirectory {

	private static final Path TARGET = Path.of("target");

	private RunDirectory() {
	}

	/**
	 * Returns the directory of a name and of this JVM, and deletes those of the same name
	 * whose JVMs have ended.
	 * @param name the name, to which the process id is added
	 * @return a directory that exists
	 */
	public static Path of(String name) {
		try {
			Path own = Files.createDirectories(TARGET.resolve(name + '-' + ProcessHandle.current().pid()));
			for (Path other : directories(name)) {
				if (!isInUse(other)) {
					delete(other);
				}
			}
			return own;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static List<Path> directories(String name) throws IOException {
		try (Stream<Path> files = Files.list(TARGET)) {
			return files.filter((file) -> file.getFileName().toString().matches(name + "-\\d+")).toList();
		}
	}

	private static boolean isInUse(Path directory) {
		String name = directory.getFileName().toString();
		return ProcessHandle.of(Long.parseLong(name.substring(name.lastIndexOf('-') + 1))).isPresent();
	}

	/** Deletes a directory with what is in it, as far as that is possible. */
	public static void delete(Path directory) {
		try (Stream<Path> files = Files.walk(directory)) {
			files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach(File::delete);
		}
		catch (IOException | UncheckedIOException ex) {
			// another JVM deletes it too, or the system does at some time
		}
	}

}
