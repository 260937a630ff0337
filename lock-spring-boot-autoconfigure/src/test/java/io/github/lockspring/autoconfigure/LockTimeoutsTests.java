package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.autoconfigure.DistributedLockProperties.Store;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

class LockTimeoutsTests {

	private final MockEnvironment environment = new MockEnvironment();

	@ParameterizedTest
	@CsvSource({ "REDIS, 1000", "REDLOCK, 1000", "JDBC, 2000", "ZOOKEEPER, 2000", "ETCD, 2000", "MEMORY, 2000" })
	void storeHasADefaultAndThePropertyWinsOverAllOthers(Store store, long millis) {
		assertThat(command(store)).hasMillis(millis);
		this.environment.setProperty("spring.data.redis.timeout", "300ms");
		this.environment.setProperty("distributed-lock.command-timeout", "70ms");
		assertThat(command(store)).hasMillis(70);
	}

	@ParameterizedTest
	@CsvSource({ "REDIS, 300ms, 300", "REDIS, 300, 300", "REDIS, 1m, 1000", "REDIS, 0, 1000", "REDIS, 1ms, 10",
			"REDLOCK, 300ms, 1000", "JDBC, 300ms, 2000" })
	void shorterTimeoutOfTheApplicationsRedisCountsForRedisOnly(Store store, String timeout, long millis) {
		this.environment.setProperty("spring.data.redis.timeout", timeout);
		assertThat(command(store)).hasMillis(millis);
	}

	@ParameterizedTest
	@CsvSource(nullValues = "-", value = { "-, 10000", "30s, 10000", "4s, 4000", "0, 0", "-1s, 0" })
	void workHasThePhaseOfTheApplicationToEndAndAtMostTenSeconds(@Nullable String phase, long millis) {
		if (phase != null) {
			this.environment.setProperty("spring.lifecycle.timeout-per-shutdown-phase", phase);
		}
		assertThat(LockTimeouts.shutdown(this.environment)).hasMillis(millis);
	}

	private Duration command(Store store) {
		return LockTimeouts.command(
				Binder.get(this.environment).bindOrCreate("distributed-lock", DistributedLockProperties.class), store,
				this.environment);
	}

}
