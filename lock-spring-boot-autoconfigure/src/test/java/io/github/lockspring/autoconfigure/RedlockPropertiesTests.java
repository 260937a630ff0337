package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How the nodes of Redlock are written, and what stops the start.
 */
class RedlockPropertiesTests {

	private static final String NODES = "distributed-lock.redlock.nodes";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class)
		.withPropertyValues("distributed-lock.store=redlock");

	@Test
	void nodesAreAListOfUrls() {
		assertThat(nodes(NODES + "=redis://a, rediss://u%40:p%2F:w@b:7000/2,redis://:secret@[::1]")).containsExactly(
				new RedlockAddress("a", 6379, 0, null, null, false),
				new RedlockAddress("b", 7000, 2, "u@", "p/:w", true),
				new RedlockAddress("::1", 6379, 0, null, "secret", false));
		assertThat(nodes(NODES + "[0]=redis://a", NODES + "[1]=redis://b", NODES + "[2]=redis://c:7"))
			.extracting(RedlockAddress::name)
			.containsExactly("a:6379", "b:6379", "c:7");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			redis://a,redis://b,c:6379 | redlock.nodes[2] | it starts neither with redis:// nor with rediss://
			redis://a,redis://b,http://c | redlock.nodes[2] | it starts neither with redis:// nor with rediss://
			redis://a,redis://b,redis:// | redlock.nodes[2] | it is not a URL
			redis://a,redis://b,redis://c/orders | redlock.nodes[2] | is not the index of a database
			redis://a,redis://b | redlock.nodes | there are too few nodes
			redis://a,redis://b,redis://c,redis://d | redlock.nodes | the number of nodes, 4, is even
			redis://a,redis://b:6379,rediss://A:6379/1 | redlock.nodes | A:6379 is listed twice
			""")
	void wrongNodesStopTheStart(String nodes, String property, String problem) {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(NODES + "=" + nodes));
		assertThat(failure.getDescription()).contains("'distributed-lock." + property + "'").contains(problem);
		assertThat(failure.getAction()).isNotBlank().endsWith(".");
	}

	@Test
	void storeWithoutNodesStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(this.runner);
		assertThat(failure.getDescription()).contains("there is no node for distributed-lock.store=redlock");
	}

	@Test
	void bundleThatWouldEncryptNothingStopsTheStart() {
		ApplicationContextRunner bundle = this.runner.withPropertyValues("distributed-lock.redlock.ssl.bundle=mine");
		FailureAnalysis failure = StartupFailures
			.of(bundle.withPropertyValues(NODES + "=redis://a,redis://b,redis://c"));
		assertThat(failure.getDescription()).contains("Invalid value 'mine'", "'distributed-lock.redlock.ssl.bundle'",
				"nothing would be encrypted", "Begin them with rediss://");
		bundle.withPropertyValues(NODES + "=rediss://a,rediss://b,rediss://c")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis://u:geheim@a,redis://u:geheim@b", "redis://u:ge@heim@a:x,redis://b,redis://c",
			"redis://u:gehe im@a,redis://b,redis://c", "u:geheim@a,redis://b,redis://c",
			"redis://u:ge,heim@a,redis://b,redis://c", "u:gehe,im@a,redis://b,redis://c" })
	void passwordIsNeverShown(String nodes) {
		for (String written : List.of(NODES + "=" + nodes, NODES + "[0]=" + nodes.split(",")[0])) {
			FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(written));
			assertThat(failure.getDescription()).contains(NODES);
			assertThat(failure.getDescription() + failure.getAction()).doesNotContain("geheim", "heim", "gehe");
			assertThat(String.valueOf(failure.getCause())).doesNotContain("geheim", "heim", "gehe");
		}
		assertThat(new RedlockAddress("a", 1, 0, "u", "geheim", false)).hasToString("a:1");
	}

	@Test
	void maxTtlThatIsShorterThanTheTtlStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues(NODES + "=redis://a,redis://b,redis://c",
					"distributed-lock.redlock.max-ttl=20s", "distributed-lock.ttl=30s"));
		assertThat(failure.getDescription()).contains("Invalid value '20s'", "'distributed-lock.redlock.max-ttl'",
				"Leases are longer than that: distributed-lock.ttl = 30s", "Choose the longest ttl");
	}

	private List<RedlockAddress> nodes(String... properties) {
		List<RedlockAddress> nodes = new ArrayList<>();
		this.runner.withPropertyValues(properties)
			.run((context) -> nodes
				.addAll(RedlockAddress.parse(context.getBean(DistributedLockProperties.class).getRedlock())));
		return nodes;
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class PropertiesConfiguration {

	}

}
