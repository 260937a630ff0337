package io.github.lockspring.autoconfigure;

import java.util.Objects;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Describes why the application cannot have its locks, where the property is set that is
 * to blame, and how to correct it.
 */
// before Spring Boot's analyzer for binding failures, which knows no remedy
@Order(0)
class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

	private final @Nullable Environment environment;

	LockConfigurationFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
		Origin origin = (cause.property() != null) ? find(ConfigurationPropertyName.of(cause.property())) : null;
		return new FailureAnalysis(cause.problem() + ((origin != null) ? "\n\n    Origin: " + origin : ""),
				cause.remedy(), rootFailure);
	}

	/** Looks for the whole list too if there is no property for the element. */
	private @Nullable Origin find(ConfigurationPropertyName property) {
		if (this.environment == null || property.isEmpty()) {
			return null;
		}
		return StreamSupport.stream(ConfigurationPropertySources.get(this.environment).spliterator(), false)
			.map((source) -> Origin.from(source.getConfigurationProperty(property)))
			.filter(Objects::nonNull)
			.findFirst()
			.orElseGet(() -> find(property.getParent()));
	}

}
