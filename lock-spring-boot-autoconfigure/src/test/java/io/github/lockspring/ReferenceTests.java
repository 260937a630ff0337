package io.github.lockspring;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pages of {@code docs/reference} have what there is, and nothing else. Properties
 * are compared with their metadata by {@code ConfigurationMetadataTests}.
 */
class ReferenceTests {

	private static final Pattern METHOD = Pattern.compile("`(?:HeldLock\\.)?(\\w+)");

	/** A default that is a text stands in the page in words. */
	@Test
	void attributesAreThoseOfTheAnnotationWithTheirDefaults() {
		Map<String, String> listed = new TreeMap<>();
		rows("annotation.md", "## `@DistributedLock`").forEach((row) -> listed.put(row.get(0), row.get(1)));
		Map<String, String> existing = new TreeMap<>();
		for (Method attribute : DistributedLock.class.getDeclaredMethods()) {
			String name = "`" + attribute.getName() + "`";
			Object value = attribute.getDefaultValue();
			existing.put(name, (value instanceof String) ? String.valueOf(listed.get(name)) : "`" + value + "`");
		}
		assertThat(listed).isEqualTo(existing).hasSize(9);
	}

	@ParameterizedTest
	@ValueSource(classes = { LockTemplate.class, LockRequest.class, HeldLock.class })
	void methodsAreThoseOfTheType(Class<?> type) {
		Set<String> listed = new TreeSet<>();
		rows("api.md", "## `" + type.getSimpleName() + "`").forEach((row) -> {
			METHOD.matcher(row.get(0)).results().forEach((method) -> listed.add(method.group(1)));
		});
		Set<String> existing = Arrays.stream(type.getDeclaredMethods())
			.filter((method) -> Modifier.isPublic(method.getModifiers()) && !method.isSynthetic())
			.map(Method::getName)
			.filter((name) -> !Set.of("toString", "equals", "hashCode").contains(name))
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(listed).isEqualTo(existing);
	}

	@Test
	void exceptionsAreThoseOfThePackage() {
		Set<String> existing = ArchitectureTests.CLASSES.stream()
			.filter((type) -> type.getPackageName().equals("io.github.lockspring"))
			.filter((type) -> type.isAssignableTo(RuntimeException.class)
					&& !type.getModifiers().contains(JavaModifier.ABSTRACT))
			.map(JavaClass::getSimpleName)
			.collect(Collectors.toSet());
		Set<String> listed = rows("exceptions.md", "# Exceptions").stream()
			.map((row) -> row.get(0).replaceAll("^`(\\w+)`.*", "$1"))
			.collect(Collectors.toSet());
		assertThat(listed).isEqualTo(existing);
	}

	private static List<List<String>> rows(String page, String heading) {
		return Documentation.table(Documentation.lines("docs/reference/" + page), heading).stream().skip(2).toList();
	}

}
