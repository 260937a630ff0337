package io.github.lockspring.autoconfigure;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.internal.interceptor.LockAnnotationValidator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Describes which annotations are invalid, and how to correct them: the one that stopped
 * the start, and those that would stop the next ones.
 */
class LockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<LockDefinitionException> {

	private static final Logger logger = LoggerFactory.getLogger(LockDefinitionFailureAnalyzer.class);

	private final @Nullable BeanFactory beanFactory;

	LockDefinitionFailureAnalyzer(@Nullable BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockDefinitionException cause) {
		Set<LockDefinitionException.Details> all = all(cause);
		if (all.size() == 1) {
			return new FailureAnalysis(describe(cause.getDetails()) + "\n", cause.getDetails().remedy(), rootFailure);
		}
		return new FailureAnalysis(
				all.stream()
					.map((details) -> describe(details) + "\n    Remedy: " + details.remedy() + "\n")
					.collect(Collectors.joining("\n")),
				"Correct these %d methods as described.".formatted(all.size()), rootFailure);
	}

	private Set<LockDefinitionException.Details> all(LockDefinitionException cause) {
		Set<LockDefinitionException.Details> all = new LinkedHashSet<>(Set.of(cause.getDetails()));
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			try {
				LockAnnotationValidator.mistakes(beans).forEach((mistake) -> all.add(mistake.getDetails()));
			}
			catch (RuntimeException | LinkageError ex) {
				// the start has failed, and what is left of it need not work
				logger.debug("Only the first mistake is shown", ex);
			}
		}
		return all;
	}

	private static String describe(LockDefinitionException.Details details) {
		String subject = switch (details.attribute()) {
			case "" -> "";
			case "return type" -> "    Return type: " + details.value() + '\n';
			default -> "    Attribute: %s = \"%s\"\n".formatted(details.attribute(), details.value());
		};
		return """
				A %s cannot be used:

				    Method: %s
				%s    Problem: %s""".formatted(details.annotation(), details.method(), subject, details.problem());
	}

}
