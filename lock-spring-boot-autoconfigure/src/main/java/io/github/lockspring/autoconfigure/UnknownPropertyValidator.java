package io.github.lockspring.autoconfigure;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.context.properties.source.ConfigurationPropertySource;
import org.springframework.boot.context.properties.source.IterableConfigurationPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Refuses properties that do not exist: Spring Boot ignores {@code distributed-lock.tll},
 * and the application would run with the default. Environment variables are not checked,
 * since other programs define them too ({@code DISTRIBUTEDLOCK_SERVICE_HOST}).
 */
final class UnknownPropertyValidator implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final ConfigurationPropertyName PREFIX = ConfigurationPropertyName.of("distributed-lock");

	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new AbstractBindHandler(bindHandler) {

			@Override
			public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
					BindContext context) {
				// before the values, whose errors may be due to the unknown name
				if (name.equals(PREFIX) && target.getType().resolve() == DistributedLockProperties.class) {
					List<String> known = PropertyNames.of(DistributedLockProperties.class);
					validate(context.getSources(), known);
				}
				return super.onStart(name, target, context);
			}

		};
	}

	private static void validate(Iterable<ConfigurationPropertySource> sources, List<String> known) {
		List<LockPropertyException> unknown = StreamSupport.stream(sources.spliterator(), false)
			.flatMap((source) -> unknown(source, known))
			.map(UnknownPropertyValidator::text)
			.distinct()
			.map((name) -> unknown(name, known))
			.toList();
		if (!unknown.isEmpty()) {
			LockPropertyException first = unknown.get(0);
			unknown.stream().skip(1).forEach(first::addSuppressed);
			throw first;
		}
	}

	private static Stream<ConfigurationPropertyName> unknown(ConfigurationPropertySource source, List<String> known) {
		if (source instanceof IterableConfigurationPropertySource names
				&& !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource)) {
			return names.stream()
				.filter((name) -> PREFIX.isAncestorOf(name) && !PropertyNames.contains(known, text(name))
						&& !isEmptyGroup(source, name, known));
		}
		return Stream.empty();
	}

	/**
	 * Whether a name is that of a group whose properties are commented out: YAML has an
	 * empty text in their place.
	 */
	private static boolean isEmptyGroup(ConfigurationPropertySource source, ConfigurationPropertyName name,
			List<String> known) {
		ConfigurationProperty property = source.getConfigurationProperty(name);
		return property != null && "".equals(property.getValue()) && PropertyNames.containsGroup(known, text(name));
	}

	private static String text(ConfigurationPropertyName name) {
		return name.subName(PREFIX.getNumberOfElements()).toString();
	}

	private static LockPropertyException unknown(String name, List<String> known) {
		String nearest = known.stream()
			.min(Comparator.comparingInt((candidate) -> PropertyNames.distance(name, candidate)))
			.orElseThrow();
		return new LockPropertyException(name, null, "there is no such property",
				"Did you mean 'distributed-lock.%s'? Otherwise remove it; a property of your own needs another prefix."
					.formatted(PropertyNames.withIndexOf(name, nearest)));
	}

}
