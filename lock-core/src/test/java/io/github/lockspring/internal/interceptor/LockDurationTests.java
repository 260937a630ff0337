package io.github.lockspring.internal.interceptor;

import java.time.Duration;
import java.util.Map;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.internal.aop.WrongAnnotationException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Durations in annotations.
 */
class LockDurationTests {

	@ParameterizedTest
	@CsvSource({ "500ms, PT0.5S", "30s, PT30S", "5m, PT5M", "1h, PT1H", "1d, P1D", "PT30S, PT30S", "P1DT2H, P1DT2H",
			"' 30 s ', PT30S", "30S, PT30S", "365d, P365D", "300ms, PT0.3S" })
	void readsDurationsWithUnit(String text, Duration duration) {
		assertThat(ttl(text)).isEqualTo(duration);
	}

	@Test
	void emptyTextIsTheDefault() {
		assertThat(ttl("")).isNull();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', value = { "ttl | 30 | the unit is missing | as in \"30s\"",
			"ttl | 30sec | not a duration | Did you mean \"30s\"?", "ttl | 2 Minutes | not a duration | \"2m\"?",
			"ttl | 500millis | not a duration | \"500ms\"?", "ttl | 1hr | not a duration | \"1h\"?",
			"ttl | 3months | not a duration | Write a number", "ttl | soon | not a duration | as in \"30s\"",
			"ttl | 1ns | shorter than 300ms | at least 300ms, or at least 100ms with renew = false",
			"ttl | 3 weeks | not a duration | (ms, s, m, h or d)", "ttl | 1.5s | not a duration | as in \"30s\"",
			"ttl | -5s | cannot be negative | at least 300ms, or at least 100ms with renew = false",
			"ttl | PT-30S | cannot be negative | at least 300ms, or at least 100ms with renew = false",
			"ttl | 0s | shorter than 300ms | at least 300ms", "ttl | 99ms | shorter than 300ms | at least 300ms",
			"ttl | 299ms | shorter than 300ms, too short to be renewed in time | at least 300ms, or at least 100ms with renew = false",
			"ttl | PT0.000000001S | shorter than 300ms | at least 300ms",
			"ttl | 300000d | longer than 365d | at most 365d",
			"ttl | 9223372036854775807d | longer than 365d | at most 365d",
			"ttl | 99999999999999999999s | longer than 365d | at most 365d",
			"ttl | 9999999d | longer than 365d | at most 365d", "waitTime | -1s | cannot be negative | at least",
			"waitTime | 5 | the unit is missing | as in \"30s\"", "waitTime | 366d | longer than 365d | at most 365d",
			"minHold | -1ms | cannot be negative | at least", "minHold | 1y | not a duration | (ms",
			"maxHold | 0s | shorter than 300ms, too short to be renewed in time | at least 300ms",
			"fixedTtl | 99ms | shorter than 100ms, too short to outlast a round trip | at least 100ms",
			"fixedTtl | 0s | shorter than 100ms | at least 100ms",
			"fixedTtl | -5s | cannot be negative | at least 100ms" })
	void refusesDurationsThatCannotBeMeant(String attribute, String text, String problem, String remedy) {
		WrongAnnotationException error = LockContexts
			.failure(LockContexts.properties(Map.of(attribute, text), Service.class));
		assertThat(error.mistake().method()).startsWith(Service.class.getName() + ".");
		assertThat(error.mistake().attribute()).isEqualTo(attribute.equals("fixedTtl") ? "ttl" : attribute);
		assertThat(error.mistake().value()).isEqualTo(text);
		assertThat(error.mistake().problem()).contains(problem);
		assertThat(error.mistake().remedy()).contains(remedy);
	}

	@Test
	void waitTimeAndMinHoldMayBeZero() {
		LockContexts.start(LockContexts.properties(Map.of("waitTime", "0s", "minHold", "0ms"), Service.class)).close();
	}

	@Test
	void refusesMaxHoldOfLockThatIsNotRenewed() {
		assertThat(LockContexts.failure(UnrenewedMaxHold.class)).hasMessageContainingAll("UnrenewedMaxHold.run()",
				"maxHold = \"1h\"", "not renewed", "Leave out maxHold");
	}

	@Test
	void leaseThatIsNotRenewedMayBeShort() {
		LockContexts.start(LockContexts.properties(Map.of("fixedTtl", "100ms"), Service.class)).close();
	}

	@Test
	void refusesMaxHoldBelowTtl() {
		assertThat(LockContexts.failure(ShortMaxHold.class)).hasMessageContainingAll("ShortMaxHold.run()",
				"maxHold = \"10s\"", "shorter than the ttl of 30000ms", "Make maxHold longer");
	}

	private static @Nullable Duration ttl(String text) {
		try (AnnotationConfigApplicationContext context = LockContexts
			.start(LockContexts.properties(Map.of("ttl", text), Service.class))) {
			context.getBean(Service.class).run();
			return context.getBean(RecordingLocks.class).last().ttl();
		}
	}

	static class Service {

		@DistributedLock(ttl = "${ttl:}", waitTime = "${waitTime:}", minHold = "${minHold:}")
		public void run() {
		}

		@DistributedLock(maxHold = "${maxHold:}")
		public void bounded() {
		}

		@DistributedLock(ttl = "${fixedTtl:}", renew = false)
		public void fixed() {
		}

	}

	static class UnrenewedMaxHold {

		@DistributedLock(renew = false, maxHold = "1h")
		public void run() {
		}

	}

	static class ShortMaxHold {

		@DistributedLock(ttl = "30s", renew = true, maxHold = "10s")
		public void run() {
		}

	}

}
