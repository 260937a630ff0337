package io.github.lockspring.autoconfigure;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

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
 * Says which property is wrong, where it was written, and what to write instead.
 */
// before Spring Boot's analyzer for everything that cannot be bound, which knows neither
@Order(0)
class LockPropertyFailureAnalyzer extends AbstractFailureAnalyzer<LockPropertyException> {

	private static final String NODES = "redlock.nodes";

	private static final Pattern BETWEEN_URLS = Pattern.compile(",\\s*(?=rediss?://)");

	private static final Pattern SCHEME = Pattern.compile("^rediss?://");

	/** What looks like a port, and is none, may be the beginning of a password. */
	private static final Pattern NO_PORT = Pattern.compile("(//[^:/]*):(?!\\d+(?:/|$)).*");

	private final @Nullable Environment environment;

	LockPropertyFailureAnalyzer(@Nullable Environment environment) {
		this.environment = environment;
	}

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, LockPropertyException cause) {
		ConfigurationProperty written = find(ConfigurationPropertyName.of(cause.getProperty()));
		String value = String.valueOf((written != null) ? written.getValue() : cause.getValue());
		value = cause.getProperty().contains(NODES) ? withoutPassword(value) : value;
		Origin origin = Origin.from(written);
		String description = "The property '%s' has the value '%s'%s: %s.".formatted(cause.getProperty(), value,
				(origin != null) ? " (from " + origin + ")" : "", cause.getProblem());
		return new FailureAnalysis(description, cause.getRemedy(), rootFailure);
	}

	/**
	 * What stands before the at sign of a URL, of which there may be several, is not
	 * shown, nor what may be a part of it.
	 */
	static String withoutPassword(String value) {
		return BETWEEN_URLS.splitAsStream(value)
			.map(LockPropertyFailureAnalyzer::urlWithoutPassword)
			.collect(Collectors.joining(", "));
	}

	private static String urlWithoutPassword(String url) {
		int at = url.lastIndexOf('@');
		if (at < 0) {
			return NO_PORT.matcher(url).replaceAll("$1:***");
		}
		Matcher scheme = SCHEME.matcher(url);
		return (scheme.find() ? scheme.group() : "") + "***" + url.substring(at);
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
