package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.core.convert.ConversionFailedException;
import org.springframework.core.convert.ConverterNotFoundException;

/**
 * Refuses durations without a unit, and what is none: Spring Boot reads
 * {@code wait-time: 5} as five milliseconds, most people as five seconds. Zero needs no
 * unit.
 */
final class DurationUnitValidator implements ConfigurationPropertiesBindHandlerAdvisor {

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

			@Override
			public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
					Exception error) throws Exception {
				if (error instanceof ConverterNotFoundException || error instanceof ConversionFailedException) {
					refuseOtherText(name, target, context);
				}
				return super.onFailure(name, target, context, error);
			}

		};
	}

	private static void refuseOtherText(ConfigurationPropertyName name, Bindable<?> target, BindContext context) {
		ConfigurationProperty property = context.getConfigurationProperty();
		if (target.getType().resolve() == Duration.class && PREFIX.isAncestorOf(name) && property != null) {
			String value = String.valueOf(property.getValue());
			throw new LockPropertyException(name.subName(1).toString(), value, "it is not a duration",
					Suggestions.duration(value).map("Did you mean %s? "::formatted).orElse("")
							+ "Write a number and a unit (ms, s, m, h or d), as in 30s, or the ISO form, as in PT30S.");
		}
	}

	private static void refuseBareNumber(ConfigurationPropertyName name, String value) {
		if (BARE_NUMBER.matcher(value).matches()) {
			throw new LockPropertyException(name.subName(1).toString(), value, "it has no unit",
					"Write it with its unit, for example %ss or %sms.".formatted(value, value));
		}
	}

}
