package io.github.lockspring.autoconfigure;

import java.lang.reflect.Constructor;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.internal.aop.Suggestions;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.ResolvableType;

/**
 * Finds the names of all properties, and compares others with them.
 */
final class PropertyNames {

	private static final String ANY_INDEX = "[0]";

	private static final Pattern INDEX = Pattern.compile("\\[\\d+]");

	private PropertyNames() {
	}

	/**
	 * Returns the names of all properties.
	 * @param type the record that they are bound to
	 * @return the names without prefix, lists also with the index 0
	 */
	static List<String> of(Class<?> type) {
		List<String> names = new ArrayList<>();
		collect(type, "", names);
		return names;
	}

	// reads the constructor, as the binder does, so a native image has what this needs
	private static void collect(Class<?> type, String prefix, List<String> names) {
		Constructor<?> constructor = type.getDeclaredConstructors()[0];
		@Nullable String @Nullable [] parameters = new DefaultParameterNameDiscoverer().getParameterNames(constructor);
		for (int i = 0; i < constructor.getParameterCount(); i++) {
			String name = prefix
					+ DataObjectPropertyName.toDashedForm(String.valueOf((parameters != null) ? parameters[i] : null));
			ResolvableType parameter = ResolvableType.forConstructorParameter(constructor, i);
			Class<?> element = parameter.as(List.class).getGeneric().resolve();
			if (parameter.toClass().isRecord()) {
				collect(parameter.toClass(), name + '.', names);
				continue;
			}
			names.add(name);
			if (element != null) {
				names.add(name + ANY_INDEX);
				if (element.isRecord()) {
					collect(element, name + ANY_INDEX + '.', names);
				}
			}
		}
	}

	static boolean contains(List<String> known, String name) {
		String wanted = uniform(name);
		return known.stream().anyMatch((candidate) -> uniform(candidate).equals(wanted));
	}

	static boolean containsGroup(List<String> known, String name) {
		String start = uniform(name) + '.';
		return known.stream().anyMatch((candidate) -> uniform(candidate).startsWith(start));
	}

	/**
	 * Returns how different two names are: the number of characters to change, or, for
	 * names without their group, one more than that of similar last elements.
	 */
	static int distance(String name, String known) {
		String left = uniform(name);
		String right = uniform(known);
		String last = left.substring(left.lastIndexOf('.') + 1);
		int edits = Suggestions.edits(last, right.substring(right.lastIndexOf('.') + 1));
		return Math.min(Suggestions.edits(left, right), (edits <= last.length() / 3) ? 1 + edits : Integer.MAX_VALUE);
	}

	/**
	 * Returns a known name with the index that another name has.
	 */
	static String withIndexOf(String name, String known) {
		Matcher index = INDEX.matcher(name);
		return index.find() ? known.replace(ANY_INDEX, index.group()) : known;
	}

	private static String uniform(String name) {
		return INDEX.matcher(name.replace("-", "")).replaceAll(ANY_INDEX);
	}

}
