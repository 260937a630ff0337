package io.github.lockspring.testsupport.etcd;

import java.io.File;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ConditionEvaluationResult;
import org.junit.jupiter.api.extension.ExecutionCondition;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Skips tests where there is no {@code etcd} on the PATH; where
 * {@code LOCKSPRING_REQUIRE} names it, they fail instead.
 *
 * @since 0.1
 */
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@ExtendWith(RequiresEtcd.Condition.class)
public @interface RequiresEtcd {

	/**
	 * Looks for the binary.
	 */
	class Condition implements ExecutionCondition {

		@Override
		public ConditionEvaluationResult evaluateExecutionCondition(ExtensionContext context) {
			return evaluate(System.getenv("PATH"), System.getenv("LOCKSPRING_REQUIRE"));
		}

		static ConditionEvaluationResult evaluate(@Nullable String path, @Nullable String required) {
			boolean present = path != null && Arrays.stream(path.split(File.pathSeparator))
				.anyMatch((directory) -> Files.isExecutable(Path.of(directory, "etcd")));
			if (present) {
				return ConditionEvaluationResult.enabled("etcd is installed");
			}
			if (required != null && List.of(required.split("[ ,]+")).contains("etcd")) {
				throw new IllegalStateException(
						"LOCKSPRING_REQUIRE names etcd, which is not on the PATH: install Debian's etcd-server");
			}
			return ConditionEvaluationResult.disabled("The store in etcd was not tested: there is no etcd on the PATH");
		}

	}

}
