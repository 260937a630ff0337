package io.github.lockspring.autoconfigure;

import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.boot.context.properties.bind.UnboundConfigurationPropertiesException;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.origin.Origin;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/**
 * Warns of properties that do not exist, with the nearest one that does. Environment
 * variables are not checked, since other programs define them too
 * ({@code DISTRIBUTEDLOCK_PORT}), nor are unknown groups, which may be those of another
 * library's store.
 */
class LockPropertyWarnings implements ConfigurationPropertiesBindHandlerAdvisor {

	private static final Logger logger = LoggerFactory.getLogger(LockPropertyWarnings.class);

	// called for each bean with properties
	@Override
	public BindHandler apply(BindHandler bindHandler) {
		return new Handler(bindHandler);
	}

	private static void warn(ConfigurationProperty property) {
		String name = property.getName().subName(1).toString();
		// YAML has an empty text for a group whose properties are commented out
		if (isOurs(name) && !"".equals(property.getValue())) {
			Origin origin = property.getOrigin();
			logger.warn(
					"There is no property 'distributed-lock.{}'{}, so it has no effect. Did you mean 'distributed-lock.{}'?",
					name, (origin != null) ? " (from " + origin + ")" : "",
					names().stream().min(Comparator.comparingInt((known) -> distance(name, known))).orElseThrow());
		}
	}

	/** A group that is nearly one of ours is a misspelt one. */
	private static boolean isOurs(String name) {
		String group = uniform(name.split("\\.")[0]);
		return name.indexOf('.') < 0 || names().stream().map(LockPropertyWarnings::uniform).anyMatch((known) -> {
			int dot = known.indexOf('.');
			return (dot < 0) ? known.equals(group) : Suggestions.edits(group, known.substring(0, dot)) <= 2;
		});
	}

	/**
	 * Returns how different two names are: the number of characters to change, or, for
	 * names without their group, one more than that of similar last elements.
	 */
	private static int distance(String name, String known) {
		String left = uniform(name);
		String right = uniform(known);
		String last = left.substring(left.lastIndexOf('.') + 1);
		int edits = Suggestions.edits(last, right.substring(right.lastIndexOf('.') + 1));
		return Math.min(Suggestions.edits(left, right), (edits <= last.length() / 3) ? 1 + edits : Integer.MAX_VALUE);
	}

	private static String uniform(String name) {
		return name.replaceAll("-|\\[\\d+]", "").toLowerCase(Locale.ROOT);
	}

	/**
	 * Returns the names of all properties, without {@code distributed-lock.}.
	 */
	static List<String> names() {
		List<String> names = new ArrayList<>();
		collect(DistributedLockProperties.class, "", names);
		return names;
	}

	private static void collect(Class<?> type, String prefix, List<String> names) {
		for (RecordComponent property : type.getRecordComponents()) {
			String name = prefix + DataObjectPropertyName.toDashedForm(property.getName());
			if (isGroup(property.getType())) {
				collect(property.getType(), name + '.', names);
			}
			else {
				names.add(name);
			}
		}
	}

	private static boolean isGroup(Class<?> type) {
		return type.getNestHost() == DistributedLockProperties.class && type.isRecord();
	}

	private static final class Handler extends NoUnboundElementsBindHandler {

		private final BindHandler parent;

		private boolean ours;

		Handler(BindHandler parent) {
			super(parent, (source) -> !(source.getUnderlyingSource() instanceof SystemEnvironmentPropertySource));
			this.parent = parent;
		}

		@Override
		public <T> @Nullable Bindable<T> onStart(ConfigurationPropertyName name, Bindable<T> target,
				BindContext context) {
			Class<?> type = target.getType().resolve(Object.class);
			if (context.getDepth() == 0) {
				this.ours = type == DistributedLockProperties.class;
			}
			// the empty text of a group is not read, see above
			return super.onStart(name,
					isGroup(type) ? target.withBindRestrictions(Bindable.BindRestriction.NO_DIRECT_PROPERTY) : target,
					context);
		}

		@Override
		public @Nullable Object onSuccess(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Object result) {
			// a group has no text, so one that is written is left unbound
			return isGroup(target.getType().resolve(Object.class))
					? this.parent.onSuccess(name, target, context, result)
					: super.onSuccess(name, target, context, result);
		}

		@Override
		public @Nullable Object onFailure(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				Exception error) throws Exception {
			// properties of an element that has none, whose report would show their
			// values
			return (this.ours && error instanceof UnboundConfigurationPropertiesException) ? null
					: super.onFailure(name, target, context, error);
		}

		@Override
		public void onFinish(ConfigurationPropertyName name, Bindable<?> target, BindContext context,
				@Nullable Object result) throws Exception {
			if (this.ours) {
				try {
					super.onFinish(name, target, context, result);
				}
				catch (UnboundConfigurationPropertiesException ex) {
					ex.getUnboundProperties().forEach(LockPropertyWarnings::warn);
				}
			}
			this.parent.onFinish(name, target, context, result);
		}

	}

}
