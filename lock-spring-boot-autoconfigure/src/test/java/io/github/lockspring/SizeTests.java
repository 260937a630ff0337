package io.github.lockspring;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreePathScanner;
import com.sun.source.util.Trees;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Holds the limit on the length of methods.
 */
class SizeTests {

	private static final List<String> MODULES = Stream
		.concat(Sources.MODULES.stream(), Stream.of("evidence/lock-protocol-model"))
		.toList();

	private static final int MAX_METHOD_LINES = 40;

	@Test
	void methodsAreShort() throws IOException {
		List<String> tooLong = new ArrayList<>();
		Sources.parse(MODULES, (task, unit) -> {
			SourcePositions positions = Trees.instance(task).getSourcePositions();
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
		});
		assertThat(tooLong).isEmpty();
	}

}
