package io.github.lockspring.autoconfigure;

import java.util.LinkedHashSet;
import java.util.Set;
import java.util.stream.Collectors;

import io.github.lockspring.internal.aop.WrongAnnotationException.Mistake;
import io.github.lockspring.internal.aop.WrongAnnotationException;
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
class LockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<WrongAnnotationException> {

	private static final Logger logger = LoggerFactory.getLogger(LockDefinitionFailureAnalyzer.class);

	private final @Nullable BeanFactory beanFactory;

	LockDefinitionFailureAnalyzer(@Nullable BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, WrongAnnotationException cause) {
		Set<Mistake> all = all(cause);
		if (all.size() == 1) {
			return new FailureAnalysis(describe(cause.mistake()) + "\n", cause.mistake().remedy(), rootFailure);
		}
		return new FailureAnalysis(
				all.stream()
					.map((mistake) -> describe(mistake) + "\n    Remedy: " + mistake.remedy() + "\n")
					.collect(Collectors.joining("\n")),
				"Correct these %d methods as described.".formatted(all.size()), rootFailure);
	}

	private Set<Mistake> all(WrongAnnotationException cause) {
		Set<Mistake> all = new LinkedHashSet<>(Set.of(cause.mistake()));
		if (this.beanFactory instanceof ConfigurableListableBeanFactory beans) {
			try {
				LockAnnotationValidator.mistakes(beans).forEach((mistake) -> all.add(mistake.mistake()));
			}
			catch (RuntimeException | LinkageError ex) {
				// the start has failed, and what is left of it need not work
				logger.debug("Only the first mistake is shown", ex);
			}
		}
		return all;
	}

	private static String describe(Mistake mistake) {
		String subject = switch (mistake.attribute()) {
			case "" -> "";
			case "return type" -> "    Return type: " + mistake.value() + '\n';
			default -> "    Attribute: %s = \"%s\"\n".formatted(mistake.attribute(), mistake.value());
		};
		return """
				A %s cannot be used:

				    Method: %s
				%s    Problem: %s""".formatted(mistake.annotation(), mistake.method(), subject, mistake.problem());
	}

}
