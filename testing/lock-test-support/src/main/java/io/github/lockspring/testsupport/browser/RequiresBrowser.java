package io.github.lockspring.testsupport.browser;

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
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips tests where there is no Chromium; where {@code LOCKSPRING_REQUIRE} names a
 * {@code browser}, they fail instead.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(RequiresBrowser.Condition.class)
public @interface RequiresBrowser {

	/** Looks for the two commands on the PATH. */
	class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return evaluate(System.getenv("PATH"), System.getenv("LOCKSPRING_REQUIRE"));
		}

		static ConditionEvaluationResult evaluate(@Nullable String path, @Nullable String required) {
			List<String> missing = List.of(Browser.BROWSER, Browser.DRIVER)
				.stream()
				.filter((command) -> find(command, path).isEmpty())
				.toList();
			if (missing.isEmpty() || (required != null && List.of(required.split("[ ,]+")).contains("browser"))) {
				return ConditionEvaluationResult.enabled("there is a browser, or there has to be one");
			}
			return ConditionEvaluationResult
				.disabled("No browser: the PATH has no " + String.join(" and no ", missing) + ". See CONTRIBUTING.md");
		}

		/**
		 * Finds a command.
		 * @param command its name
		 * @param path the PATH
		 * @return where it is
		 */
		static Optional<Path> find(String command, @Nullable String path) {
			return Pattern.compile(File.pathSeparator, Pattern.LITERAL)
				.splitAsStream((path != null) ? path : "")
				.filter((folder) -> !folder.isEmpty())
				.map((folder) -> Path.of(folder, command))
				.filter(Files::isExecutable)
				.findFirst();
		}

	}

}
