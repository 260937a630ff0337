package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.util.JavacTask;

/**
 * The sources of what users get.
 */
final class Sources {

	/** The modules that users depend on. */
	static final List<String> MODULES = List.of("lock-core", "stores/lock-redis", "stores/lock-redlock",
			"stores/lock-jdbc", "stores/lock-zookeeper", "stores/lock-etcd", "lock-spring-boot-autoconfigure",
			"testing/lock-spring-boot-test");

	private Sources() {
	}

	/** Parses all main classes of modules. */
	static void parse(List<String> modules, BiConsumer<JavacTask, CompilationUnitTree> reader) throws IOException {
		Stream<Path> sources = modules.stream()
			.flatMap((module) -> Documentation.files(Path.of("..", module, "src", "main", "java"), ".java").stream());
		JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
		try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
			JavacTask task = (JavacTask) compiler.getTask(null, files, null, List.of("-proc:none"), null,
					files.getJavaFileObjectsFromPaths(sources.toList()));
			task.parse().forEach((unit) -> reader.accept(task, unit));
		}
	}

}
