package io.github.lockspring.autoconfigure;

import java.io.IOException;
import java.io.InputStream;
import java.math.BigDecimal;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

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

	/** Without those that the processor adds for every Actuator endpoint. */
	private static final List<Map<String, Object>> PROPERTIES = entries("properties").stream()
		.filter((property) -> !((String) Objects.requireNonNull(property.get("name"))).startsWith("management."))
		.toList();

	@Test
	void everyPropertyIsKnownAndNoOther() {
		assertThat(PROPERTIES).extracting((property) -> property.get("name"))
			.containsExactlyInAnyOrderElementsOf(names().toList());
	}

	@Test
	void suggestionsKnowAllProperties() {
		assertThat(LockPropertyWarnings.names().stream().map((name) -> "distributed-lock." + name))
			.containsExactlyInAnyOrderElementsOf(names().toList());
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
	void referenceListsEachPropertyWithItsDefault() throws IOException {
		Map<String, String> listed = new TreeMap<>();
		Matcher rows = Pattern.compile("^\\| `(distributed-lock\\.[\\w.-]+)` \\| `?([^`|]+?)`? \\|", Pattern.MULTILINE)
			.matcher(Files.readString(Path.of("..", "docs", "reference.md")));
		while (rows.find()) {
			assertThat(listed.put(rows.group(1), rows.group(2))).as(rows.group(1)).isNull();
		}
		Map<String, String> known = new TreeMap<>();
		for (Map<String, Object> property : PROPERTIES) {
			known.put((String) property.get("name"), text(property.get("defaultValue")));
		}
		assertThat(listed).isEqualTo(known);
	}

	@Test
	void hintsBelongToKnownProperties() {
		assertThat(entries("hints")).isNotEmpty().extracting((hint) -> hint.get("name")).isSubsetOf(names().toList());
	}

	private static String text(@Nullable Object value) {
		return (value instanceof Number number)
				? BigDecimal.valueOf(number.doubleValue()).stripTrailingZeros().toPlainString()
				: Objects.toString(value, "none");
	}

	static Stream<String> names() {
		return Stream
			.of("enabled", "store", "key-prefix", "ttl", "wait-time", "max-hold", "command-timeout", "async-release",
					"order", "redis.replica-acks", "redlock.nodes", "redlock.ssl.bundle", "redlock.max-ttl",
					"jdbc.table", "jdbc.initialize-schema", "jdbc.connections", "jdbc.purge-after", "fencing.table",
					"fencing.initialize-schema", "zookeeper.connect-string", "zookeeper.session-timeout",
					"zookeeper.auth", "etcd.endpoints", "etcd.username", "etcd.password", "etcd.ssl.bundle",
					"transaction.verify-before-commit")
			.map((name) -> "distributed-lock." + name);
	}

	@SuppressWarnings("unchecked")
	private static List<Map<String, Object>> entries(String section) {
		String resource = "META-INF/spring-configuration-metadata.json";
		try (InputStream json = Objects.requireNonNull(DistributedLockProperties.class.getProtectionDomain()
			.getCodeSource()
			.getLocation()
			.toURI()
			.resolve(resource)
			.toURL()
			.openStream())) {
			Map<String, Object> metadata = JsonParserFactory.getJsonParser()
				.parseMap(new String(json.readAllBytes(), StandardCharsets.UTF_8));
			return (List<Map<String, Object>>) Objects.requireNonNull(metadata.get(section));
		}
		catch (IOException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

}
