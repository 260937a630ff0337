package io.github.lockspring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Says why there is no store for locks, and how to get one.
 */
class MissingLockStoreFailureAnalyzer extends AbstractFailureAnalyzer<MissingLockStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MissingLockStoreException cause) {
		return new FailureAnalysis(
				"This application uses locks, but there is no store for them: " + cause.getProblem() + ".",
				cause.getRemedy(), rootFailure);
	}

}
