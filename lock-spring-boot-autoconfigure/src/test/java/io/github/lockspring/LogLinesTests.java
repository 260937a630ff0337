package io.github.lockspring;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ExpressionTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberReferenceTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.ParenthesizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreeScanner;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * {@code docs/reference/log-lines.md} has a row for each line that is logged as a warning
 * or an error. A row begins with the beginning of the line, as it stands in the call of
 * the logger, with {@code …} for what is known at run time only. So the text has to be
 * written there, and not where a reader of the call does not see it.
 */
class LogLinesTests {

	private static final String PAGE = "docs/reference/log-lines.md";

	/** Stands for what is known at run time only. */
	private static final String ANY = "…";

	/** A shorter beginning would be that of too many lines. */
	private static final int MIN_LENGTH = 15;

	@Test
	void everyWarningAndErrorHasARow() throws IOException {
		List<String> rows = rows();
		assertThat(lines()).hasSizeGreaterThan(30)
			.allSatisfy((line) -> assertThat(rows).as(line.toString()).anyMatch(line.text()::startsWith));
	}

	@Test
	void everyRowIsThatOfALine() throws IOException {
		List<Line> lines = lines();
		assertThat(rows()).hasSizeGreaterThan(30)
			.doesNotHaveDuplicates()
			.allSatisfy((row) -> assertThat(row).hasSizeGreaterThan(MIN_LENGTH))
			.allSatisfy((row) -> assertThat(lines).as(row).anyMatch((line) -> line.text().startsWith(row)));
	}

	/** The first cells of the tables, without an ellipsis at their end. */
	private static List<String> rows() {
		return Documentation.lines(PAGE)
			.stream()
			.filter((line) -> line.startsWith("| `"))
			.map((line) -> line.substring(3, line.indexOf("` |")))
			.map((text) -> text.endsWith(ANY) ? text.substring(0, text.length() - ANY.length()) : text)
			.toList();
	}

	private static List<Line> lines() throws IOException {
		List<Line> lines = new ArrayList<>();
		Sources.parse(Sources.MODULES,
				(task, unit) -> new Calls(Path.of(unit.getSourceFile().getName()).getFileName().toString(), lines)
					.scan(unit, null));
		return lines;
	}

	/**
	 * A line that the log may have.
	 *
	 * @param source the file that writes it
	 * @param text its text
	 */
	private record Line(String source, String text) {
	}

	/**
	 * Finds the calls of loggers.
	 */
	private static final class Calls extends TreeScanner<Void, Void> {

		private static final Set<String> LEVELS = Set.of("warn", "error");

		private static final List<String> BUILDERS = List.of("logger.atWarn(", "logger.atError(", "logger.atLevel(");

		private final String source;

		private final List<Line> lines;

		Calls(String source, List<Line> lines) {
			this.source = source;
			this.lines = lines;
		}

		@Override
		public Void visitMethodInvocation(MethodInvocationTree call, Void unused) {
			if (call.getMethodSelect() instanceof MemberSelectTree method && isReport(method)) {
				this.lines.add(new Line(this.source, text(call.getArguments().get(0))));
			}
			return super.visitMethodInvocation(call, unused);
		}

		/** The text is not in the call, so no row is found. */
		@Override
		public Void visitMemberReference(MemberReferenceTree reference, Void unused) {
			if (isLogger(reference.getQualifierExpression()) && LEVELS.contains(reference.getName().toString())) {
				this.lines.add(new Line(this.source, ANY));
			}
			return super.visitMemberReference(reference, unused);
		}

		private static boolean isReport(MemberSelectTree method) {
			String name = method.getIdentifier().toString();
			if (name.equals("log")) {
				String builder = method.getExpression().toString();
				return BUILDERS.stream().anyMatch(builder::contains);
			}
			return LEVELS.contains(name) && isLogger(method.getExpression());
		}

		private static boolean isLogger(ExpressionTree expression) {
			return expression instanceof IdentifierTree identifier && identifier.getName().contentEquals("logger");
		}

		private static String text(ExpressionTree expression) {
			if (expression instanceof LiteralTree literal) {
				return String.valueOf(literal.getValue()).replace("{}", ANY);
			}
			if (expression instanceof BinaryTree binary && binary.getKind() == Tree.Kind.PLUS) {
				return text(binary.getLeftOperand()) + text(binary.getRightOperand());
			}
			return (expression instanceof ParenthesizedTree inner) ? text(inner.getExpression()) : ANY;
		}

	}

}
