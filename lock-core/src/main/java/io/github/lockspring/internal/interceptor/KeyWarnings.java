package io.github.lockspring.internal.interceptor;

import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of keys that are probably not those that were meant, once for all beans.
 */
final class KeyWarnings {

	private static final Logger logger = LoggerFactory.getLogger(KeyWarnings.class);

	/** Text, a bean or a method as a part of the key tells it from others. */
	private static final Pattern BARE = Pattern.compile("#(?!root\\b)[^'\"+@{}]+");

	/** The methods by their class, or by their name. */
	private final Map<Class<?>, Set<String>> bare = new LinkedHashMap<>();

	private final Map<String, Set<String>> keyless = new LinkedHashMap<>();

	private final Set<String> doubled = new LinkedHashSet<>();

	void add(LockOperation operation) {
		String name = operation.name();
		String key = operation.key();
		if (name.isEmpty() && BARE.matcher(key).matches()) {
			add(this.bare, operation.type(), operation.annotated() + " (key = \"" + key + "\")");
		}
		if (!name.isEmpty() && key.isEmpty()) {
			add(this.keyless, name, operation.annotated() + " (name = \"" + name + "\")");
		}
		if (!name.isEmpty() && key.contains('\'' + name + ':')) {
			this.doubled.add(operation.annotated() + " (name = \"" + name + "\", key = \"" + key + "\")");
		}
	}

	private static <K> void add(Map<K, Set<String>> methods, K group, String method) {
		methods.computeIfAbsent(group, (each) -> new LinkedHashSet<>()).add(method);
	}

	/**
	 * Logs the warnings.
	 */
	void warn() {
		if (this.bare.size() > 1) {
			logger
				.warn("Locks without a name share one key space: called with equal values, methods of different classes"
						+ " exclude each other. They are {}. Give each annotation a name, as in"
						+ " @DistributedLock(name = \"order\", key = \"#id\"), and the same name to methods that are to"
						+ " exclude each other", joined(this.bare.values().stream()));
		}
		List<Set<String>> shared = this.keyless.values().stream().filter((methods) -> methods.size() > 1).toList();
		if (!shared.isEmpty()) {
			logger
				.warn("Methods with the same name and no key do not exclude each other: without a key, each method is a"
						+ " lock of its own. They are {}. Give them the same key, as in key = \"'all'\", or names of their own",
						joined(shared.stream()));
		}
		if (!this.doubled.isEmpty()) {
			logger.warn(
					"Keys begin with their name twice, as in order:order:42, and are not those of programs that name"
							+ " it once. They are {}. Leave the name out of the key, or leave out the attribute name",
					joined(Stream.of(this.doubled)));
		}
	}

	private static String joined(Stream<Set<String>> methods) {
		return methods.flatMap(Collection::stream).collect(Collectors.joining(", "));
	}

}
