package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Map;

import io.github.lockspring.internal.transaction.Verification;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.RandomValuePropertySource;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

class DistributedLockPropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class);

	@Test
	void applicationThatSetsNothingHasTheDefaults() {
		this.runner.run((context) -> {
			DistributedLockProperties properties = context.getBean(DistributedLockProperties.class);
			assertThat(properties.enabled()).isTrue();
			assertThat(properties.store()).isNull();
			assertThat(properties.jdbc()).isEqualTo(new DistributedLockProperties.Jdbc("lock_lease",
					DistributedLockProperties.InitializeSchema.EMBEDDED, Duration.ofSeconds(2), Duration.ofSeconds(5),
					5, null));
			assertThat(properties.keyPrefix()).isEqualTo("lock:");
			assertThat(properties.ttl()).hasSeconds(30);
			assertThat(properties.waitTime()).hasSeconds(5);
			assertThat(properties.maxHold()).isNull();
			assertThat(properties.order()).isLessThan(Ordered.LOWEST_PRECEDENCE);
			assertThat(properties.renewal().interval()).isBetween(0.33, 0.34);
			assertThat(properties.renewal().batchSize()).isEqualTo(100);
			assertThat(properties.redis().commandTimeout()).hasSeconds(1);
			assertThat(properties.redis().connectTimeout()).hasSeconds(5);
			assertThat(properties.redis().notifications()).isTrue();
			assertThat(properties.redis().replicaAcks()).isZero();
			assertThat(properties.redis().replicaAckTimeout()).hasMillis(500);
			assertThat(properties.redlock().nodes()).isEmpty();
			assertThat(properties.redlock().nodeTimeout()).hasMillis(200);
			assertThat(properties.redlock().clockDrift()).isEqualTo(0.01);
			assertThat(properties.redlock().longestTtl()).isNull();
			assertThat(properties.redlock().durable()).isFalse();
			assertThat(properties.fairness().maxHandoffTime()).hasMillis(10);
			assertThat(properties.shutdown().timeout()).hasSeconds(10);
			assertThat(properties.fencing().table()).isEqualTo("lock_fence");
			assertThat(properties.fencing().initializeSchema())
				.isEqualTo(DistributedLockProperties.InitializeSchema.EMBEDDED);
		});
	}

	@Test
	void everyPropertyCanBeSet() {
		this.runner.withPropertyValues("distributed-lock.enabled=false", "distributed-lock.store=memory",
				"distributed-lock.key-prefix=shop:lock:", "distributed-lock.ttl=1m", "distributed-lock.wait-time=0",
				"distributed-lock.max-hold=PT1H", "distributed-lock.async-release=true", "distributed-lock.order=7",
				"distributed-lock.renewal.interval=0.25", "distributed-lock.renewal.batch-size=10",
				"distributed-lock.redis.command-timeout=250ms", "distributed-lock.redis.connect-timeout=8s",
				"distributed-lock.redis.notifications=false", "distributed-lock.redis.replica-acks=2",
				"distributed-lock.redis.replica-ack-timeout=100ms", "distributed-lock.redlock.nodes=redis://a",
				"distributed-lock.redlock.node-timeout=70ms", "distributed-lock.redlock.clock-drift=0.02",
				"distributed-lock.redlock.longest-ttl=2m", "distributed-lock.redlock.durable=true",
				"distributed-lock.jdbc.table=shop.locks", "distributed-lock.jdbc.initialize-schema=always",
				"distributed-lock.jdbc.command-timeout=300ms", "distributed-lock.jdbc.connect-timeout=9s",
				"distributed-lock.jdbc.connections=3", "distributed-lock.jdbc.purge-after=8d",
				"distributed-lock.fairness.max-handoff-time=0s", "distributed-lock.zookeeper.connect-string=zoo:1",
				"distributed-lock.zookeeper.session-timeout=20s", "distributed-lock.zookeeper.command-timeout=400ms",
				"distributed-lock.zookeeper.connect-timeout=7s", "distributed-lock.zookeeper.root=/shop",
				"distributed-lock.zookeeper.auth=digest:a:b", "distributed-lock.zookeeper.acl=creator",
				"distributed-lock.etcd.endpoints=https://a:1,https://b:2", "distributed-lock.etcd.username=me",
				"distributed-lock.etcd.password=secret", "distributed-lock.etcd.ssl.bundle=etcd",
				"distributed-lock.etcd.root=shop", "distributed-lock.etcd.command-timeout=500ms",
				"distributed-lock.etcd.connect-timeout=6s", "distributed-lock.shutdown.timeout=1s",
				"distributed-lock.transaction.release-after-completion=false",
				"distributed-lock.transaction.verify-before-commit=off",
				"distributed-lock.transaction.min-remaining=2s", "distributed-lock.fencing.table=shop.fences",
				"distributed-lock.fencing.initialize-schema=never", "distributed-lock.observation.enabled=true",
				"distributed-lock.observation.include-key=true")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class))
				.isEqualTo(new DistributedLockProperties(false, DistributedLockProperties.Store.MEMORY, "shop:lock:",
						Duration.ofMinutes(1), Duration.ZERO, Duration.ofHours(1), true, 7,
						new DistributedLockProperties.Renewal(0.25, 10),
						new DistributedLockProperties.Redis(Duration.ofMillis(250), Duration.ofSeconds(8), false, 2,
								Duration.ofMillis(100)),
						new DistributedLockProperties.Redlock(List.of(RedlockNodeProperties.valueOf("redis://a")),
								Duration.ofMillis(70), 0.02, Duration.ofMinutes(2), true),
						new DistributedLockProperties.Jdbc("shop.locks",
								DistributedLockProperties.InitializeSchema.ALWAYS, Duration.ofMillis(300),
								Duration.ofSeconds(9), 3, Duration.ofDays(8)),
						new DistributedLockProperties.Zookeeper("zoo:1", Duration.ofSeconds(20), Duration.ofMillis(400),
								Duration.ofSeconds(7), "/shop", "digest:a:b",
								DistributedLockProperties.Zookeeper.Acl.CREATOR),
						new DistributedLockProperties.Etcd(List.of("https://a:1", "https://b:2"), "me", "secret",
								new DistributedLockProperties.Etcd.Ssl("etcd"), "shop", Duration.ofMillis(500),
								Duration.ofSeconds(6)),
						new DistributedLockProperties.Fairness(Duration.ZERO),
						new DistributedLockProperties.Shutdown(Duration.ofSeconds(1)),
						new DistributedLockProperties.Transaction(false, Verification.OFF, Duration.ofSeconds(2)),
						new DistributedLockProperties.Fencing("shop.fences",
								DistributedLockProperties.InitializeSchema.NEVER),
						new DistributedLockProperties.Observation(true, true))));
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', nullValues = "-", textBlock = """
			key-prefix              | "" | it is empty
			key-prefix              | lock:{shop}: | braces
			key-prefix              | lock}: | braces
			ttl                     | 0s | it is not between 300ms and 365d
			ttl                     | -1s | a negative time has no meaning
			ttl                     | 299ms | it is not between 300ms and 365d
			ttl                     | 300000d | it is not between 300ms and 365d
			wait-time               | -1ms | a negative time has no meaning
			wait-time               | 366d | it is not between 0s and 365d
			max-hold                | 0s | it is not between 300ms and 365d
			max-hold                | 29s | it is shorter than a single lease, distributed-lock.ttl = 30s
			renewal.interval        | 0 | it is not between 0.1 and 0.5
			renewal.interval        | -0.3 | it is not between 0.1 and 0.5
			renewal.interval        | 0.9 | it is not between 0.1 and 0.5
			renewal.interval        | NaN | it is not between 0.1 and 0.5
			renewal.batch-size      | 0 | it is not between 1 and 500
			renewal.batch-size      | -1 | it is not between 1 and 500
			renewal.batch-size      | 501 | it is not between 1 and 500
			redis.command-timeout   | 0s | it is not between 10ms and 1m
			redis.command-timeout   | 2m | it is not between 10ms and 1m
			redis.connect-timeout   | 9ms | it is not between 10ms and 1m
			redis.connect-timeout   | 61s | it is not between 10ms and 1m
			redis.replica-acks      | -1 | it is not between 0 and 10
			redis.replica-acks      | 11 | it is not between 0 and 10
			redis.replica-ack-timeout | 0s | it is not between 1ms and 1m
			redlock.node-timeout    | 0s | it is not between 1ms and 20s
			redlock.node-timeout    | 1m | it is not between 1ms and 20s
			redlock.clock-drift     | -0.1 | it is not between 0.0 and 0.5
			redlock.clock-drift     | 1 | it is not between 0.0 and 0.5
			redlock.longest-ttl     | 50ms | it is not between 100ms and 365d
			jdbc.purge-after        | 59m | it is not between 1h and 3650d
			etcd.endpoints          | "" | there is no server
			etcd.endpoints          | etcd:2379 | it is not a URL of a server
			etcd.endpoints          | http://etcd:2379/v3 | it is not a URL of a server
			etcd.endpoints          | https://a,http://b | some of them are without TLS
			etcd.root               | "" | it is empty
			etcd.ssl.bundle         | mine | nothing would be encrypted
			etcd.username           | me | user and password need each other
			etcd.command-timeout    | 9ms | it is not between 10ms and 1m
			etcd.connect-timeout    | 61s | it is not between 10ms and 1m
			fairness.max-handoff-time     | -10ms | a negative time has no meaning
			fairness.max-handoff-time     | 1h | it is not between 0s and 1m
			shutdown.timeout        | -1s | a negative time has no meaning
			shutdown.timeout        | 2h | it is not between 0s and 1h
			transaction.min-remaining | 2m | it is not between 0s and 1m
			transaction.min-remaining | 30s | no lease is that long: distributed-lock.ttl = 30s
			""")
	void valueWithoutMeaningStopsTheStart(String property, String value, String problem) {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("distributed-lock." + property + "=" + value));
		assertThat(failure.getDescription()).contains("'distributed-lock." + property + "'")
			.contains("'" + value + "'")
			.contains(problem);
		assertThat(failure.getAction()).isNotBlank().endsWith(".");
	}

	@ParameterizedTest
	@ValueSource(
			strings = { "etcd.endpoints=http://me:secret@etcd:2379", "etcd.password=secret", "zookeeper.auth=secret" })
	void passwordIsNotShown(String property) {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues("distributed-lock." + property));
		assertThat(failure.getDescription()).contains("(not shown)").doesNotContain("secret");
		assertThat(failure.getAction()).doesNotContain("secret");
		assertThat(new DistributedLockProperties.Etcd(List.of("http://a"), "me", "secret",
				new DistributedLockProperties.Etcd.Ssl(null), "locks", Duration.ofSeconds(1), Duration.ofSeconds(1)))
			.hasToString("Etcd[endpoints=[http://a], username=me, ssl=Ssl[bundle=null], root=locks]");
	}

	@Test
	void waitForReplicasThatIsNotShorterThanTheCommandStopsTheStart() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues(
				"distributed-lock.redis.replica-acks=1", "distributed-lock.redis.replica-ack-timeout=300ms",
				"distributed-lock.redis.command-timeout=300ms"));
		assertThat(failure.getDescription())
			.contains("'distributed-lock.redis.replica-ack-timeout' has the value '300ms'")
			.contains("it is not shorter than distributed-lock.redis.command-timeout = 300ms");
		assertThat(failure.getAction()).contains("half of the command timeout");
	}

	@Test
	void waitForReplicasThatIsUnusedIsNotComparedWithTheCommand() {
		this.runner.withPropertyValues("distributed-lock.redis.command-timeout=300ms")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	@ParameterizedTest
	@ValueSource(strings = { "ttl", "wait-time", "max-hold", "redis.command-timeout", "redis.connect-timeout",
			"redis.replica-ack-timeout", "fairness.max-handoff-time", "shutdown.timeout" })
	@ValueSource(strings = { "ttl", "wait-time", "max-hold", "redis.command-timeout", "redlock.node-timeout",
			"redlock.longest-ttl", "fairness.max-handoff-time", "shutdown.timeout" })
	void durationWithoutUnitStopsTheStart(String property) {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("distributed-lock." + property + "=45"));
		assertThat(failure.getDescription()).contains("'distributed-lock." + property + "' has the value '45'")
			.contains("it has no unit");
		assertThat(failure.getAction()).contains("45s");
	}

	@Test
	void durationWithoutUnitIsFoundBehindPlaceholderAndRelaxedName() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("patience=5", "distributed-lock.waitTime=${patience}"));
		assertThat(failure.getDescription()).contains("distributed-lock.wait-time").contains("it has no unit");
		assertThat(failure.getAction()).contains("5s");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			tll                            | ttl
			TTLL                           | ttl
			waitTme                        | wait-time
			lease-time                     | wait-time
			command-timeout                | redis.command-timeout
			redis.commandtimeouts          | redis.command-timeout
			redis.command-timeout.millis   | redis.command-timeout
			renew.interval                 | renewal.interval
			redlock.node[0]                | redlock.nodes[0]
			redlock.nodes[2].pasword       | redlock.nodes[2].password
			redlock.nodes[1].ssl.bundel    | redlock.nodes[1].ssl.bundle
			""")
	void unknownPropertyStopsTheStartAndNamesItsNearestNeighbour(String property, String nearest) {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("distributed-lock." + property + "=30s"));
		assertThat(failure.getDescription()).startsWith("The property 'distributed-lock.")
			.endsWith(": there is no such property.")
			.doesNotContain("30s");
		assertThat(failure.getAction()).startsWith("Did you mean 'distributed-lock." + nearest + "'?");
	}

	@Test
	void unknownPropertyIsReportedWithItsOrigin() {
		FailureAnalysis failure = StartupFailures.of(this.runner
			.withInitializer(new ConfigDataApplicationContextInitializer())
			.withPropertyValues("spring.config.location=classpath:/io/github/lockspring/autoconfigure/wrong-name.yml"));
		assertThat(failure.getDescription()).contains("'distributed-lock.tll'").contains("wrong-name.yml] - 2:8");
	}

	@Test
	void unknownPropertyIsReportedBeforeTheValuesThatItLeavesOut() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues("distributed-lock.store=redlock",
				"distributed-lock.redlock.node=redis://a,redis://b,redis://c"));
		assertThat(failure.getDescription()).contains("'distributed-lock.redlock.node'");
	}

	@Test
	void unknownEnvironmentVariableIsNoProperty() {
		this.runner
			.withInitializer((context) -> context.getEnvironment()
				.getPropertySources()
				.addFirst(new SystemEnvironmentPropertySource("test-systemEnvironment",
						Map.of("DISTRIBUTEDLOCK_SERVICE_HOST", "10.0.0.1", "DISTRIBUTEDLOCK_TTL", "7s"))))
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).ttl()).hasSeconds(7));
	}

	@Test
	void propertyMayBeWrittenInEveryRelaxedForm() {
		this.runner.withInitializer((context) -> RandomValuePropertySource.addToEnvironment(context.getEnvironment()))
			.withPropertyValues("distributed-lock.waitTime=1s", "distributedLock.max_hold=1m",
					"distributed-lock.REDIS.command-timeout=1s", "distributed-lock.redlock.nodes[0].host=a",
					"distributed-lock.redlock.nodes[1]=redis://b", "distributed-lock.key-prefix=${random.uuid}:",
					"distributed-locks.ttl=1s", "distributed-lock-other.ttl=1s")
			.run((context) -> assertThat(context).hasNotFailed());
	}

	/** YAML has an empty text for a group whose properties are commented out. */
	@Test
	void emptyGroupIsNoUnknownProperty() {
		this.runner
			.withPropertyValues("distributed-lock.redis=", "distributed-lock.redis.command-timeout=2s",
					"distributed-lock.redlock.nodes[0].host=a", "distributed-lock.redlock.nodes[0].ssl=",
					"distributed-lock.redlock.nodes[0].ssl.enabled=true")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).redis().commandTimeout())
				.hasSeconds(2));
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues("distributed-lock.redis=redis://a",
				"distributed-lock.redis.command-timeout=2s"));
		assertThat(failure.getDescription()).contains("'distributed-lock.redis'", "there is no such property");
	}

	@Test
	void emptyGroupLeavesTheDefaults() {
		this.runner.withPropertyValues("distributed-lock.redis=", "distributed-lock.redlock.nodes=")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).redis().commandTimeout())
				.hasSeconds(1));
	}

	@Test
	void otherDurationsOfTheApplicationAreNotChecked() {
		this.runner.withUserConfiguration(OtherPropertiesConfiguration.class)
			.withPropertyValues("other.timeout=45")
			.run((context) -> assertThat(context.getBean(OtherProperties.class).timeout()).hasMillis(45));
	}

	@Test
	void failureNamesTheOriginOfTheValue() {
		FailureAnalysis failure = StartupFailures.of(this.runner
			.withInitializer(new ConfigDataApplicationContextInitializer())
			.withPropertyValues("spring.config.location=classpath:/io/github/lockspring/autoconfigure/wrong-ttl.yml"));
		assertThat(failure.getDescription()).contains("wrong-ttl.yml").contains("2:8");
	}

	@Test
	void unknownStoreStopsTheStartWithTheListOfStores() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues("distributed-lock.store=redlok"));
		assertThat(failure.getDescription()).contains("distributed-lock.store").contains("redlok");
		assertThat(failure.getAction()).contains("MEMORY").contains("REDIS").contains("REDLOCK");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class PropertiesConfiguration {

		@Bean
		static DurationUnitValidator durationUnitCheck() {
			return new DurationUnitValidator();
		}

		@Bean
		static UnknownPropertyValidator unknownPropertyCheck() {
			return new UnknownPropertyValidator();
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(OtherProperties.class)
	static class OtherPropertiesConfiguration {

	}

	@ConfigurationProperties("other")
	record OtherProperties(Duration timeout) {
	}

}
