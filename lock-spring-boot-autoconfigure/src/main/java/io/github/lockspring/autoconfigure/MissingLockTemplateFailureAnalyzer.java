package io.github.lockspring.autoconfigure;

import io.github.lockspring.LockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.analyzer.AbstractInjectionFailureAnalyzer;
import org.springframework.core.annotation.Order;

/**
 * Describes why there is no {@link LockTemplate}: the analyzer of Spring Boot, which is
 * asked later, would advise to define one.
 */
@Order(0)
class MissingLockTemplateFailureAnalyzer extends AbstractInjectionFailureAnalyzer<NoSuchBeanDefinitionException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause,
			@Nullable String description) {
		if (cause.getNumberOfBeansFound() > 0 || cause.getBeanType() != LockTemplate.class) {
			return null;
		}
		return new FailureAnalysis(
				((description != null) ? description : "A component")
						+ " required a LockTemplate, but the auto-configuration of locks is not in this context.",
				"If this is a test slice, such as @WebMvcTest: add @AutoConfigureDistributedLocks to the test, and the"
						+ " dependency io.github.lockspring:lock-spring-boot-test with the scope test. If it is an"
						+ " application: do not exclude LockAutoConfiguration.",
				cause);
	}

}
