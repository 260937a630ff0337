package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.regex.Pattern;

import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.core.convert.ConversionFailedException;
import org.springframework.core.convert.ConverterNotFoundException;
import org.springframework.core.env.Environment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Watches the binding of {@link DistributedLockProperties}. Refuses durations without a
 * unit, of which Spring Boot reads {@code wait-time: 5} as five milliseconds and most
 * people as five seconds; zero needs no unit. Warns of properties that do not exist.
 * Environment variables are not checked for that, since other programs define them too
 * ({@code DISTRIBUTEDLOCK_PORT}).
 */
class LockPropertyBinding implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final Logger logger = LoggerFactory.getLogger(LockPropertyBinding.class);

	private static final Pattern BARE_NUMBER = Pattern.compile("[+-]?\\d+");

	// called for each bean with properties
	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new Handler(bindHandler);
	}

	private static final class Handler extends AbstractBindHandler {

		private final NoUnboundElementsBindHandler names = new NoUnboundElementsBindHandler(BindHandler.DEFAULT,
				Handler::isChecked);

		private boolean ours;

		Handler(BindHandler parent) {
			super(parent);
		}

		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			if (context.getDepth() == 0) {
				this.ours = target.getType().resolve() == DistributedLockProperties.class;
			}
			if (!this.ours) {
				return super.onStart(name, target, context);
			}
			this.names.onStart(name, target, context);
			// YAML has an empty text for a group whose properties are commented out
			return super.onStart(name, !isGroup(target) ? target
					: target.withBindRestrictions(Bindable.BindRestriction.NO_DIRECT_PROPERTY), context);
		}

		@Override
		public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Object result) {
			if (this.ours && !isGroup(target)) {
				this.names.onSuccess(name, target, context, result);
				if (result instanceof Duration duration && !duration.isZero()) {
					refuseBareNumber(name, context.getBinder().bind(name, Bindable.of(String.class)).orElse("").trim());
				}
			}
			return super.onSuccess(name, target, context, result);
		}

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			ConfigurationProperty property = context.getConfigurationProperty();
			if (this.ours && target.getType().resolve() == Duration.class && property != null
					&& (error instanceof ConverterNotFoundException || error instanceof ConversionFailedException)) {
				refuseText(name, String.valueOf(property.getValue()));
			}
			if (this.ours && error instanceof UnboundConfigurationPropertiesException) {
				// properties of a node in the place of its URL, which do not exist
				return null;
			}
			return super.onFailure(name, target, context, error);
		}

		@Override
		public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				@Nullable Object result) throws Exception {
			if (this.ours) {
				try {
					this.names.onFinish(name, target, context, result);
				}
				catch (UnboundConfigurationPropertiesException ex) {
					ex.getUnboundProperties()
						.forEach((property) -> LockPropertyNames.explain(property).ifPresent(logger::warn));
				}
			}
			super.onFinish(name, target, context, result);
		}

		private static boolean isGroup(Bindable<?> target) {
			return LockPropertyNames.isGroup(target.getType().resolve(Object.class));
		}

		private static boolean isChecked(ConfigurationPropertySource source) {
			return !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource);
		}

		private static void refuseText(ConfigurationPropertyName name, String value) {
			throw LockConfigurationException.ofValue(name.subName(1).toString(), value, "it is not a duration",
					Suggestions.duration(value).map("Did you mean %s? "::formatted).orElse("")
							+ "Write a number and a unit (ms, s, m, h or d), as in 30s, or the ISO form, as in PT30S.");
		}

		private static void refuseBareNumber(ConfigurationPropertyName name, String value) {
			if (BARE_NUMBER.matcher(value).matches()) {
				throw LockConfigurationException.ofValue(name.subName(1).toString(), value, "it has no unit",
						"Write it with its unit, for example %ss or %sms.".formatted(value, value));
			}
		}

	}

}
