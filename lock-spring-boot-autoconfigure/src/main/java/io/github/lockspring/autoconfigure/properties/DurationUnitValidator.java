package io.github.lockspring.autoconfigure.properties;

import java.time.Duration;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/**
 * Refuses durations without a unit: Spring Boot reads {@code wait-time: 5} as five
 * milliseconds, most people as five seconds. Zero needs no unit.
 *
 * @since 0.1
 */
public final class DurationUnitValidator implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("distributed-lock");

	private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?\\d+");

	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new AbstractBindHandler(bindHandler) {

			@Override
			public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Object result) {
				if (result instanceof Duration duration && !duration.isZero() && PREFIX.isAncestorOf(name)) {
					refuseBareNumber(name, context.getBinder().bind(name, Bindable.of(String.class)).orElse("").trim());
				}
				return super.onSuccess(name, target, context, result);
			}

		};
	}

	private static void refuseBareNumber(ConfigurationPropertyName name, String value) {
		if (BARE_NUMBER.matcher(value).matches()) {
			throw new LockPropertyException(name.subName(1).toString(), value, "it has no unit",
					"Write it with its unit, for example %ss or %sms.".formatted(value, value));
		}
	}

}
