package io.github.lockspring.autoconfigure;

import java.util.Map;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;

import static org.assertj.core.api.Assertions.assertThat;

@ExtendWith(OutputCaptureExtension.class)
class LocksDisabledAutoConfigurationTests {

	private static final String WARNING = "Locks are switched off (distributed-lock.enabled=false)";

	private final ApplicationContextRunner runner = Applications.withoutRedis()
		.withClassLoader(new FilteredClassLoader("org.springframework.data.redis", "io.lettuce", "redis.clients"));

	@Test
	void annotatedMethodsRunUnlockedWithOneWarning(CapturedOutput output) {
		this.runner.withUserConfiguration(LockedService.class)
			.withPropertyValues("distributed-lock.enabled=false")
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isFalse());
		assertThat(output.toString().lines().filter((line) -> line.contains(WARNING))).singleElement()
			.asString()
			.contains("WARN");
	}

	@ParameterizedTest
	@CsvSource({ "true, true", "TRUE, true", "'true ', true", "yes, true", "on, true", "1, true", "FALSE, false",
			"'false ', false", "no, false", "off, false", "0, false" })
	void everyWordForTrueAndFalseIsUnderstoodAndLocksAreNeverOffSilently(String value, boolean on,
			CapturedOutput output) {
		this.runner.withUserConfiguration(LockedService.class)
			.withPropertyValues("distributed-lock.store=memory")
			.withInitializer(enabled(value))
			.run((context) -> assertThat(context.getBean(LockedService.class).work()).isEqualTo(on));
		assertThat(output.toString().contains(WARNING)).isNotEqualTo(on);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "maybe", "tru" })
	void otherValuesStopTheStart(String value) {
		FailureAnalysis failure = StartupFailures
			.of(Applications.inMemory().withUserConfiguration(LockedService.class).withInitializer(enabled(value)));
		assertThat(failure.getDescription()).contains("distributed-lock.enabled").contains("\"" + value + "\"");
	}

	private static ApplicationContextInitializer<ConfigurableApplicationContext> enabled(String value) {
		return (context) -> context.getEnvironment()
			.getPropertySources()
			.addFirst(new MapPropertySource("value", Map.of("distributed-lock.enabled", value)));
	}

	@Test
	void programsGetLocksOfThisProcess() {
		this.runner.withPropertyValues("distributed-lock.enabled=false").run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			try (HeldLock lock = locks.acquire(LockRequest.of("key"))) {
				assertThat(lock.isHeld()).isTrue();
			}
		});
	}

}
