package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
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
 * Holds the limit on the length of methods.
 */
class SizeTests {

	private static final List<Path> SOURCES = Stream
		.of("lock-core", "stores/lock-redis", "stores/lock-redlock", "stores/lock-jdbc", "stores/lock-zookeeper",
				"stores/lock-etcd", "lock-spring-boot-autoconfigure", "testing/lock-spring-boot-test",
				"evidence/lock-protocol-model")
		.flatMap((module) -> Documentation.files(Path.of("..", module, "src", "main", "java"), ".java").stream())
		.toList();

	private static final int MAX_METHOD_LINES = 40;

	@Test
	void methodsAreShort() throws IOException {
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		List<String> tooLong = new ArrayList<>();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			Iterable<? extends JavaFileObject> sources = files.getJavaFileObjectsFromPaths(SOURCES);
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

}
