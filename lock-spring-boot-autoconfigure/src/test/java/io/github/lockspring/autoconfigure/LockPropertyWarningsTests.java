package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application is told of properties that do not exist. It starts.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockPropertyWarningsTests {

	private final ApplicationContextRunner runner = Applications.inMemory();

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			TTLL                           | ttl
			waitTme                        | wait-time
			lease-time                     | wait-time
			redis.replica-ack              | redis.replica-acks
			ttl.millis                     | ttl
			redlock.nodes[0].host          | redlock.nodes
			redlock.ssl.bundel             | redlock.ssl.bundle
			zookeper.connect-string        | zookeeper.connect-string
			transactions.verify-before-commit | transaction.verify-before-commit
			replica-acks                   | redis.replica-acks
			""")
	void unknownPropertyIsAWarningWithItsNearestNeighbour(String property, String nearest, CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock." + property + "=30s")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(warnings(output)).singleElement()
			.asString()
			.contains("WARN", "so it has no effect. Did you mean 'distributed-lock." + nearest + "'?")
			.doesNotContain("30s");
	}

	@Test
	void nodeThatIsWrittenInPartsTakesNoOtherWithIt(CapturedOutput output) {
		this.runner
			.withPropertyValues("distributed-lock.redlock.nodes[0]=redis://a",
					"distributed-lock.redlock.nodes[1].host=b", "distributed-lock.redlock.nodes[1].password=geheim")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(warnings(output)).hasSize(2);
		assertThat(output).doesNotContain("geheim");
	}

	@Test
	void originOfThePropertyIsNamed(CapturedOutput output) {
		this.runner.withInitializer(new ConfigDataApplicationContextInitializer())
			.withPropertyValues("spring.config.location=classpath:/io/github/lockspring/autoconfigure/wrong-name.yml")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(warnings(output)).singleElement().asString().contains("'distributed-lock.tll' (from", "] - 2:8)");
	}

	@Test
	void missingNodesAreExplainedByTheWarningBeforeTheFailure(CapturedOutput output) {
		StartupFailures.of(Applications.withoutRedis()
			.withPropertyValues("distributed-lock.store=redlock",
					"distributed-lock.redlock.node=redis://a,redis://b,redis://c"));
		assertThat(warnings(output)).singleElement()
			.asString()
			.contains("Did you mean 'distributed-lock.redlock.nodes'?");
	}

	/** YAML has an empty text for a group whose properties are commented out. */
	@ParameterizedTest
	@ValueSource(strings = { "dynamodb.table=locks", "consul.acl-token=a", "orders.ttl=20s", "foo.bar.baz=1",
			"renewal.interval=0.9", "redis=", "jdbc=", "redlock.ssl=", "redlock.nodes=" })
	void groupOfSomebodyElseAndEmptyGroupAreLeftAlone(String property, CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock." + property)
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(warnings(output)).isEmpty();
	}

	@Test
	void environmentVariablesAreNotChecked(CapturedOutput output) {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
						Map.of("DISTRIBUTEDLOCK_PORT", "tcp://10.0.0.1:80", "DISTRIBUTEDLOCK_TTL", "7s"))))
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).ttl()).hasSeconds(7));
		assertThat(warnings(output)).isEmpty();
	}

	@Test
	void textForAGroupIsAnUnknownProperty(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.redis=redis://a", "distributed-lock.redis.replica-acks=1")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(warnings(output)).singleElement().asString().contains("'distributed-lock.redis'");
	}

	@Test
	void textForAGroupOfOneTextIsNotThatText(CapturedOutput output) {
		this.runner.withPropertyValues("distributed-lock.etcd.ssl=mine")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).etcd().ssl().bundle())
				.isNull());
		assertThat(warnings(output)).singleElement().asString().contains("'distributed-lock.etcd.ssl'");
	}

	private static List<String> warnings(CapturedOutput output) {
		return output.getOut().lines().filter((line) -> line.contains("There is no property")).toList();
	}

}
