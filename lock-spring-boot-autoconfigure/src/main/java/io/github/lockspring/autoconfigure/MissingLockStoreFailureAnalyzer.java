package io.github.lockspring.autoconfigure;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/**
 * Describes why the application has no store for its locks, and how to get one.
 */
class MissingLockStoreFailureAnalyzer extends AbstractFailureAnalyzer<MissingLockStoreException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, MissingLockStoreException cause) {
		return cause.getAnalysis();
	}

}
