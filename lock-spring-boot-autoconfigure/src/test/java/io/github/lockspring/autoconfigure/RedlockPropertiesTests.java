package io.github.lockspring.autoconfigure;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * How the nodes of Redlock are written, and what stops the start.
 */
class RedlockPropertiesTests {

	private static final String NODES = "distributed-lock.redlock.nodes";

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withConfiguration(AutoConfigurations.of(RedlockLockStoreAutoConfiguration.class))
		.withPropertyValues("distributed-lock.store=redlock");

	@Test
	void nodesAreAListOfUrls() {
		List<RedisURI> nodes = nodes(NODES + "=redis://a, rediss://u%40:p%2F:w@b:7000/2,redis://:secret@[::1]");
		assertThat(nodes).extracting(RedisURI::getHost).containsExactly("a", "b", "[::1]");
		assertThat(nodes).extracting(RedisURI::getPort).containsExactly(6379, 7000, 6379);
		assertThat(nodes).extracting(RedisURI::getDatabase).containsExactly(0, 2, 0);
		assertThat(nodes).extracting(RedisURI::isSsl).containsExactly(false, true, false);
		assertThat(nodes).extracting((node) -> credentials(node).getUsername()).containsExactly(null, "u@", null);
		assertThat(nodes).extracting((node) -> credentials(node).getPassword())
			.containsExactly(null, "p/:w".toCharArray(), "secret".toCharArray());
		assertThat(nodes(NODES + "[0]=redis://a", NODES + "[1]=redis://b", NODES + "[2]=redis://c:7"))
			.extracting(RedisURI::getHost)
			.containsExactly("a", "b", "c");
	}

	private static RedisCredentials credentials(RedisURI node) {
		return Objects.requireNonNull(node.getCredentialsProvider().resolveCredentials().block());
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			redis://a,redis://b,c:6379 | redlock.nodes[2] | it is not the URL of a server
			redis://a,redis://b,http://c | redlock.nodes[2] | it is not the URL of a server
			redis://a,redis://b,redis-socket:///c | redlock.nodes[2] | it is not the URL of a server
			redis://a,redis://b,redis:// | redlock.nodes[2] | it is not the URL of a server
			redis://a,redis://b,redis://c/orders | redlock.nodes[2] | it is not the URL of a server
			"" | redlock.nodes | but there are 0
			redis://a,redis://b | redlock.nodes | Redlock needs 3, 5 or another odd number of nodes, but there are 2
			redis://a,redis://b,redis://c,redis://d | redlock.nodes | another odd number of nodes, but there are 4
			redis://a,redis://b:6379,rediss://A:6379/1 | redlock.nodes | there are two called
			""")
	void wrongNodesStopTheStart(String nodes, String property, String problem) {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(NODES + "=" + nodes));
		assertThat(failure.getDescription()).contains("'distributed-lock." + property + "'").contains(problem);
		assertThat(failure.getAction()).isNotBlank().endsWith(".");
	}

	@Test
	void bundleThatWouldEncryptNothingStopsTheStart() {
		ApplicationContextRunner bundle = this.runner.withPropertyValues("distributed-lock.redlock.ssl.bundle=mine");
		FailureAnalysis failure = StartupFailures
			.of(bundle.withPropertyValues(NODES + "=redis://a,redis://b,redis://c"));
		assertThat(failure.getDescription()).contains("Invalid value 'mine'", "'distributed-lock.redlock.ssl.bundle'",
				"nothing would be encrypted", "Begin them with rediss://");
		assertThat(nodes("distributed-lock.redlock.ssl.bundle=mine", NODES + "=rediss://a")).hasSize(1);
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
	}

	@Test
	void maxTtlThatIsShorterThanTheTtlStopsTheStart() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues(NODES + "=redis://a,redis://b,redis://c",
					"distributed-lock.redlock.max-ttl=20s", "distributed-lock.ttl=30s"));
		assertThat(failure.getDescription()).contains("Invalid value '20s'", "'distributed-lock.redlock.max-ttl'",
				"It is shorter than distributed-lock.ttl = 30s", "Choose the longest ttl");
	}

	private static List<RedisURI> nodes(String... properties) {
		List<RedisURI> nodes = new ArrayList<>();
		new ApplicationContextRunner()
			.withUserConfiguration(DistributedLockPropertiesTests.PropertiesConfiguration.class)
			.withPropertyValues(properties)
			.run((context) -> nodes
				.addAll(RedlockNodes.parse(context.getBean(DistributedLockProperties.class).redlock())));
		return nodes;
	}

}
