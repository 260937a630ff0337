package io.github.lockspring.autoconfigure;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.env.RandomValuePropertySource;
import org.springframework.boot.test.context.ConfigDataApplicationContextInitializer;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class DistributedLockPropertiesTests {

	private final ApplicationContextRunner runner = new ApplicationContextRunner()
		.withUserConfiguration(PropertiesConfiguration.class);

	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			key-prefix              | "" | It is empty
			key-prefix              | lock:{shop}: | Braces
			key-prefix              | lock}: | Braces
			ttl                     | 0s | It is not between 300ms and 365d
			ttl                     | -1s | A negative time has no meaning
			ttl                     | 299ms | It is not between 300ms and 365d
			ttl                     | 300000d | It is not between 300ms and 365d
			wait-time               | -1ms | A negative time has no meaning
			wait-time               | 366d | It is not between 0s and 365d
			max-hold                | 0s | It is not between 300ms and 365d
			max-hold                | 29s | It is shorter than a single lease, distributed-lock.ttl = 30s
			command-timeout         | 0s | It is not between 10ms and 1m
			command-timeout         | 2m | It is not between 10ms and 1m
			redis.replica-acks      | -1 | It is not between 0 and 10
			redis.replica-acks      | 11 | It is not between 0 and 10
			redlock.max-ttl         | 50ms | It is not between 100ms and 365d
			jdbc.connections        | 1 | It is not between 2 and 100
			jdbc.connections        | 101 | It is not between 2 and 100
			jdbc.purge-after        | 59m | It is not between 1h and 3650d
			zookeeper.session-timeout | 500ms | It is not between 1s and 10m
			etcd.endpoints          | "" | There is no server
			etcd.endpoints          | etcd:2379 | It is not a URL of a server
			etcd.endpoints          | http://etcd:2379/v3 | It is not a URL of a server
			etcd.endpoints          | https://a,http://b | Some of them are without TLS
			etcd.ssl.bundle         | mine | nothing would be encrypted
			ttl | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			wait-time | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			max-hold | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			command-timeout | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			redlock.max-ttl | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			jdbc.purge-after | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			zookeeper.session-timeout | 45 | It has no unit. Write it with its unit, for example 45s or 45ms
			""")
	void valueWithoutMeaningStopsTheStart(String property, String value, String problem) {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withPropertyValues("distributed-lock." + property + "=" + value));
		assertThat(failure.getDescription())
			.startsWith("Invalid value '" + value + "' for configuration property 'distributed-lock." + property + "'")
			.contains(problem)
			.endsWith(".");
	}

	@ParameterizedTest
	@ValueSource(strings = { "etcd.endpoints=http://me:secret@etcd:2379", "etcd.password=secret",
			"etcd.username=secret", "zookeeper.auth=secret" })
	void valueThatMayBeSecretIsNotShown(String property) {
		FailureAnalysis failure = StartupFailures.of(this.runner.withPropertyValues("distributed-lock." + property));
		assertThat(failure.getDescription())
			.contains("'distributed-lock." + property.split("=")[0] + "', whose value is not shown: ")
			.doesNotContain("secret");
		assertThat(failure.getAction()).isNotBlank().endsWith(".").doesNotContain("secret");
		assertThat(failure.getCause()).isNotNull().asString().doesNotContain("secret");
	}

	@Test
	void textOfTheBeanHasNoValue() {
		this.runner.withPropertyValues("distributed-lock.etcd.username=me", "distributed-lock.etcd.password=secret",
				"distributed-lock.zookeeper.auth=digest:me:secret", "distributed-lock.redlock.nodes=redis://:secret@a")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class)).asString()
				.isEqualTo("DistributedLockProperties"));
	}

	@Test
	void durationWithoutUnitIsFoundBehindPlaceholderAndRelaxedName() {
		FailureAnalysis failure = StartupFailures
			// as a SpringApplication does
			.of(this.runner.withInitializer((context) -> ConfigurationPropertySources.attach(context.getEnvironment()))
				.withPropertyValues("patience=5", "distributed-lock.waitTime=${patience}"));
		assertThat(failure.getDescription()).contains("distributed-lock.wait-time")
			.contains("It has no unit")
			.contains("5s");
	}

	@Test
	void zeroNeedsNoUnit() {
		this.runner.withPropertyValues("distributed-lock.wait-time=0")
			.run((context) -> assertThat(context.getBean(DistributedLockProperties.class).waitTime()).isZero());
	}

	@Test
	void propertyMayBeWrittenInEveryRelaxedForm(CapturedOutput output) {
		this.runner.withInitializer((context) -> RandomValuePropertySource.addToEnvironment(context.getEnvironment()))
			.withPropertyValues("distributed-lock.waitTime=1s", "distributedLock.max_hold=1m",
					"distributed-lock.REDIS.replica-acks=1", "distributed-lock.redlock.nodes[0]=redis://a",
					"distributed-lock.redlock.nodes[1]=redis://b", "distributed-lock.key-prefix=${random.uuid}:",
					"distributed-locks.ttl=1s", "distributed-lock-other.ttl=1s")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain("There is no property");
	}

	@ParameterizedTest
	@ValueSource(strings = { "wrong-ttl.yml", "duration-without-unit.yml" })
	void failureNamesTheOriginOfTheValue(String file) {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withInitializer(new ConfigDataApplicationContextInitializer())
				.withPropertyValues("spring.config.location=classpath:/io/github/lockspring/autoconfigure/" + file));
		assertThat(failure.getDescription()).contains(file).contains("2:8");
	}

	@Configuration(proxyBeanMethods = false)
	@EnableConfigurationProperties(DistributedLockProperties.class)
	static class PropertiesConfiguration {

		@Bean
		static LockPropertyWarnings warnings() {
			return new LockPropertyWarnings();
		}

	}

}
