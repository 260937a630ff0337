package io.github.lockspring.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

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
		List<LockPropertyException.Details> all = Stream.concat(Stream.of(cause), Arrays.stream(cause.getSuppressed()))
			.filter(LockPropertyException.class::isInstance)
			.map((mistake) -> ((LockPropertyException) mistake).details())
			.toList();
		return new FailureAnalysis(all.stream().map(this::describe).collect(Collectors.joining("\n")),
				all.stream().map(LockPropertyException.Details::remedy).collect(Collectors.joining("\n")), rootFailure);
	}

	private String describe(LockPropertyException.Details details) {
		ConfigurationProperty property = find(ConfigurationPropertyName.of(details.property()));
		Origin origin = Origin.from(property);
		return "The property '%s'%s%s: %s.".formatted(details.property(), value(details, property),
				(origin != null) ? " (from " + origin + ")" : "", details.problem());
	}

	private static String value(LockPropertyException.Details details, @Nullable ConfigurationProperty property) {
		if (details.value() == null) {
			// of an unknown property, it could be a password
			return "";
		}
		boolean shown = !LockPropertyException.SECRET.equals(details.value());
		String value = String.valueOf((property != null && shown) ? property.getValue() : details.value());
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
