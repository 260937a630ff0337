package io.github.lockspring.autoconfigure;

import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.github.lockspring.Documentation;
import io.github.lockspring.internal.interceptor.LockOperationSourceAdvisor;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.json.JsonParserFactory;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What editors know about the properties.
 */
class ConfigurationMetadataTests {

	/** Defaults that depend on others, as the page says them. */
	private static final Map<String, String> IN_WORDS = Map.of("distributed-lock.store", "that of the starter",
			"distributed-lock.command-timeout", "1s on Redis and Redlock, 2s on others",
			"distributed-lock.redlock.max-ttl", "the ttl", "distributed-lock.redlock.ssl.bundle",
			"the JVM's trust store", "distributed-lock.etcd.ssl.bundle", "the JVM's trust store");

	/** Without those that the processor adds for every Actuator endpoint. */
	private static final List<Map<String, Object>> PROPERTIES = entries("properties").stream()
		.filter((property) -> !((String) Objects.requireNonNull(property.get("name"))).startsWith("management."))
		.toList();

	/** The properties that {@code PropertyWiringTests} have a setting for. */
	@Test
	void everyPropertyIsKnownAndNoOther() {
		assertThat(PROPERTIES).extracting((property) -> property.get("name"))
			.as("a new property needs its setting in PropertyWiringTests")
			.containsExactlyInAnyOrderElementsOf(names());
		assertThat(LockPropertyWarnings.names().stream().map((name) -> "distributed-lock." + name))
			.containsExactlyInAnyOrderElementsOf(names());
	}

	@ParameterizedTest
	@MethodSource("names")
	void propertyHasDescriptionWithWhatHappensWithoutIt(String name) {
		Map<String, Object> property = PROPERTIES.stream()
			.filter((candidate) -> name.equals(candidate.get("name")))
			.findFirst()
			.orElseThrow();
		assertThat((String) property.get("description")).isNotBlank().endsWith(".");
		if (property.get("defaultValue") == null && !name.endsWith(".nodes")) {
			assertThat((String) property.get("description")).contains("By default");
		}
	}

	@Test
	void referenceListsEachPropertyWithItsDefault() {
		Map<String, String> listed = new TreeMap<>();
		Matcher rows = Pattern.compile("^\\| `(distributed-lock\\.[\\w.-]+)` \\| `?([^`|]+?)`? \\|", Pattern.MULTILINE)
			.matcher(String.join("\n", Documentation.lines("docs/reference/properties.md")));
		while (rows.find()) {
			assertThat(listed.put(rows.group(1), rows.group(2))).as(rows.group(1)).isNull();
		}
		Map<String, String> known = new TreeMap<>();
		for (Map<String, Object> property : PROPERTIES) {
			String name = (String) property.get("name");
			Object value = property.get("defaultValue");
			known.put(name, (value != null) ? text(value) : IN_WORDS.getOrDefault(name, "none"));
		}
		assertThat(listed).isEqualTo(known)
			.containsEntry("distributed-lock.order", text(LockOperationSourceAdvisor.DEFAULT_ORDER));
	}

	@Test
	void hintsBelongToKnownProperties() {
		assertThat(entries("hints")).isNotEmpty().extracting((hint) -> hint.get("name")).isSubsetOf(names());
	}

	private static String text(Object value) {
		return (value instanceof Number number)
				? BigDecimal.valueOf(number.doubleValue()).stripTrailingZeros().toPlainString() : value.toString();
	}

	static List<String> names() {
		return PropertyWiringTests.names().stream().map((name) -> "distributed-lock." + name).toList();
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> entries(String section) {
		List<String> json = Documentation
			.lines("lock-spring-boot-autoconfigure/target/classes/META-INF/spring-configuration-metadata.json");
		return (List<Map<String, Object>>) JsonParserFactory.getJsonParser()
			.parseMap(String.join("\n", json))
			.get(section);
	}

}
