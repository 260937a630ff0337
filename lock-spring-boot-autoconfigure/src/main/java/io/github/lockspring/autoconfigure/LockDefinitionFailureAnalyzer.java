package io.github.lockspring.autoconfigure;

import io.github.lockspring.LockDefinitionException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Describes which annotation is invalid, and how to correct it.
 */
class LockDefinitionFailureAnalyzer extends AbstractFailureAnalyzer<LockDefinitionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockDefinitionException cause) {
		String description = """
				A %s cannot be used:

				    Method: %s
				    Attribute: %s = "%s"
				    Problem: %s
				""".formatted(cause.getDetails().annotation(), cause.getDetails().method(),
				cause.getDetails().attribute(), cause.getDetails().value(), cause.getDetails().problem());
		return new FailureAnalysis(description, cause.getDetails().remedy(), rootFailure);
	}

}
