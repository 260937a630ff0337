package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the limits on the size of packages, classes and methods. A code line is one that
 * is not blank, a comment, an import or the package.
 */
class SizeTests {

	private static final List<Path> SOURCES = Stream
		.of("lock-core", "lock-redis", "lock-jdbc", "lock-zookeeper", "lock-etcd", "lock-spring-boot-autoconfigure",
				"lock-spring-boot-test", "lock-protocol-model")
		.map((module) -> Path.of("..", module, "src", "main", "java"))
		.toList();

	private static final int MAX_TYPES = 22;

	private static final int MAX_CLASS_LINES = 300;

	/** State machines whose state is private: one invariant needs one home. */
	private static final Map<String, Integer> STATE_MACHINES = Map.of("KeyLock.java", 500, "Instance.java", 500);

	private static final int MAX_METHOD_LINES = 40;

	private static final Pattern BLOCK_COMMENT = Pattern.compile("/\\*.*?\\*/", Pattern.DOTALL);

	@Test
	void packagesHaveFewTypes() throws IOException {
		Map<Path, Integer> types = new TreeMap<>();
		sources().forEach((source) -> types.merge(source.getParent(), 1, Integer::sum));
		assertThat(types).isNotEmpty()
			.allSatisfy((directory, number) -> assertThat(number).as("types of %s", directory)
				.isLessThanOrEqualTo(MAX_TYPES));
	}

	@Test
	void classesAreShort() throws IOException {
		for (Path source : sources()) {
			String name = source.getFileName().toString();
			assertThat(codeLines(source)).as("code lines of %s", source)
				.isLessThanOrEqualTo(STATE_MACHINES.getOrDefault(name, MAX_CLASS_LINES));
		}
	}

	@Test
	void methodsAreShort() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		List<String> tooLong = new ArrayList<>();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			Iterable<? extends JavaFileObject> sources = files.getJavaFileObjectsFromPaths(sources());
			JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null, sources);
			SourcePositions positions = Trees.instance(task).getSourcePositions();
			for (CompilationUnitTree unit : task.parse()) {
				new TreePathScanner<Void, Void>() {

					@Override
					public Void visitMethod(MethodTree method, Void unused) {
						LineMap lines = unit.getLineMap();
						long length = lines.getLineNumber(positions.getEndPosition(unit, method))
								- lines.getLineNumber(positions.getStartPosition(unit, method)) + 1;
						if (length > MAX_METHOD_LINES) {
							tooLong.add(unit.getSourceFile().getName() + ": " + method.getName() + ", " + length);
						}
						return super.visitMethod(method, unused);
					}

				}.scan(unit, null);
			}
		}
		assertThat(tooLong).isEmpty();
	}

	private static List<Path> sources() throws IOException {
		List<Path> sources = new ArrayList<>();
		for (Path root : SOURCES) {
			try (Stream<Path> files = Files.walk(root)) {
				files.filter((path) -> path.toString().endsWith(".java"))
					.filter((path) -> !path.endsWith("package-info.java"))
					.forEach(sources::add);
			}
		}
		return sources;
	}

	private static int codeLines(Path source) throws IOException {
		String text = BLOCK_COMMENT.matcher(Files.readString(source)).replaceAll("");
		return (int) text.lines()
			.map((line) -> line.contains("\"") ? line : line.replaceAll("//.*", ""))
			.map(String::strip)
			.filter((line) -> !line.isEmpty() && !line.startsWith("import ") && !line.startsWith("package "))
			.count();
	}

}
