package io.github.lockspring.autoconfigure.properties;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.origin.Origin;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;

/**
 * Describes which property has an invalid value, where the value was set, and how to
 * correct it.
 */
// before Spring Boot's analyzer for binding failures, which knows neither problem nor
// remedy
@Order(0)
class LockPropertyFailureAnalyzer extends AbstractFailureAnalyzer<LockPropertyException> {

	private static final String NODES = "redlock.nodes";

	private final @Nullable Environment environment;

	LockPropertyFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockPropertyException cause) {
		ConfigurationProperty property = find(ConfigurationPropertyName.of(cause.details().property()));
		Origin origin = Origin.from(property);
		String description = "The property '%s'%s%s: %s.".formatted(cause.details().property(),
				value(cause.details(), property), (origin != null) ? " (from " + origin + ")" : "",
				cause.details().problem());
		return new FailureAnalysis(description, cause.details().remedy(), rootFailure);
	}

	private static String value(LockPropertyException.Details details, @Nullable ConfigurationProperty property) {
		if (details.value() == null) {
			// of an unknown property, it could be a password
			return "";
		}
		String value = String.valueOf((property != null) ? property.getValue() : details.value());
		return " has the value '%s'"
			.formatted(details.property().contains(NODES) ? RedlockNodeProperties.withoutPassword(value) : value);
	}

	private @Nullable ConfigurationProperty find(ConfigurationPropertyName name) {
		if (this.environment != null) {
			for (ConfigurationPropertySource source : ConfigurationPropertySources.get(this.environment)) {
				ConfigurationProperty property = source.getConfigurationProperty(name);
				if (property != null) {
					return property;
				}
			}
		}
		return null;
	}

}
