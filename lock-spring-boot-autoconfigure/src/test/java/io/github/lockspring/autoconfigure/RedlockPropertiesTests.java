package io.github.lockspring.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
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
				new RedlockAddress("redlock.nodes[0]", "a", 6379, 0, null, null, false, null),
				new RedlockAddress("redlock.nodes[1]", "b", 7000, 2, "u@", "p/:w", true, null),
				new RedlockAddress("redlock.nodes[2]", "::1", 6379, 0, null, "secret", false, null));
	}

	@Test
	void nodesHaveAllPropertiesOfAConnection() {
		assertThat(nodes(NODES + "[0].host=a", NODES + "[0].port=7", NODES + "[0].username=u", NODES + "[0].password=p",
				NODES + "[0].database=3", NODES + "[0].ssl.bundle=certs", NODES + "[1].url=redis://b",
				NODES + "[1].password=q", NODES + "[1].ssl.enabled=true", NODES + "[2].url=rediss://c",
				NODES + "[2].ssl.bundle=certs"))
			.containsExactly(new RedlockAddress("redlock.nodes[0]", "a", 7, 3, "u", "p", true, "certs"),
					new RedlockAddress("redlock.nodes[1]", "b", 6379, 0, null, "q", true, null),
					new RedlockAddress("redlock.nodes[2]", "c", 6379, 0, null, null, true, "certs"));
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
	void nodeWithoutPlaceStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(NODES + "[0].port=7000"));
		assertThat(failure.getDescription()).contains("it has neither a url nor a host");
	}

	@ParameterizedTest
	@ValueSource(strings = { "redis://u:geheim@a,redis://u:geheim@b", "redis://u:ge@heim@a:x,redis://b,redis://c",
			"redis://u:gehe im@a,redis://b,redis://c", "u:geheim@a,redis://b,redis://c",
			"redis://u:ge,heim@a,redis://b,redis://c" })
	void passwordIsNeverShown(String nodes) {
		for (String written : List.of(NODES + "=" + nodes, NODES + "[0].url=" + nodes.split(",")[0])) {
			FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(written));
			assertThat(failure.getDescription() + failure.getAction()).doesNotContain("geheim", "heim", "gehe");
			assertThat(String.valueOf(failure.getCause())).doesNotContain("geheim", "heim", "gehe");
		}
		assertThat(RedlockNodeProperties.valueOf("redis://u:geheim@a")).hasToString("redis://***@a");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', nullValues = "-", textBlock = """
			node-timeout | 400ms | -  | must fit into distributed-lock.redis.command-timeout = 1s | 333ms
			node-timeout | 300ms | 2s | too much of the lease, distributed-lock.ttl = 2s | 222ms
			longest-ttl  | 20s   | -  | leases are longer than that: distributed-lock.ttl = 30s | longest
			""")
	void valuesThatDoNotFitTogetherStopTheStart(String property, String value, String ttl, String problem,
			String remedy) {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(
				NODES + "=redis://a,redis://b,redis://c", "distributed-lock.redlock." + property + "=" + value,
				"distributed-lock.ttl=" + ((ttl != null) ? ttl : "30s")));
		assertThat(failure.getDescription()).contains("'distributed-lock.redlock." + property + "'")
			.contains("'" + value + "'")
			.contains(problem);
		assertThat(failure.getAction()).contains(remedy);
	}

	private List<RedlockAddress> nodes(String... properties) {
		List<RedlockAddress>[] nodes = new List[1];
		this.runner.withPropertyValues(properties)
			.run((context) -> nodes[0] = context.getBean(DistributedLockProperties.class).redlock().addresses());
		return nodes[0];
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class PropertiesConfiguration {

	}

}
