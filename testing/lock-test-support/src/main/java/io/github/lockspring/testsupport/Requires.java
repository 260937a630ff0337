package io.github.lockspring.testsupport;

import java.io.File;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Skips tests where commands are not on the PATH; where {@code LOCKSPRING_REQUIRE} names
 * what they belong to, the tests fail instead.
 *
 * @since 0.1
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(Requires.Condition.class)
public @interface Requires {

	/** The name in {@code LOCKSPRING_REQUIRE}. */
	String name();

	/** The commands. */
	String[] commands();

	/** Looks for the commands. */
	final class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return AnnotationSupport.findAnnotation(context.getElement(), Requires.class)
				.map((requires) -> evaluate(requires, System.getenv("PATH"), System.getenv("LOCKSPRING_REQUIRE")))
				.orElse(ConditionEvaluationResult.enabled("nothing is required"));
		}

		static ConditionEvaluationResult evaluate(Requires requires, @Nullable String path, @Nullable String required) {
			List<String> missing = Stream.of(requires.commands())
				.filter((command) -> find(command, path).isEmpty())
				.toList();
			if (missing.isEmpty()) {
				return ConditionEvaluationResult.enabled("all commands are there");
			}
			String message = "The PATH has no " + String.join(" and no ", missing) + ". See CONTRIBUTING.md";
			if (required != null && List.of(required.split("[ ,]+")).contains(requires.name())) {
				throw new IllegalStateException(message + ", or unset LOCKSPRING_REQUIRE");
			}
			return ConditionEvaluationResult.disabled(message);
		}

		/** Finds a command in the directories of a PATH. */
		public static Optional<Path> find(String command, @Nullable String path) {
			return Stream.of(((path != null) ? path : "").split(File.pathSeparator))
				.filter((folder) -> !folder.isEmpty())
				.map((folder) -> Path.of(folder, command))
				.filter(Files::isExecutable)
				.findFirst();
		}

	}

}
