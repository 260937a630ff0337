package io.github.lockspring.check;

import java.time.Duration;
import java.util.Optional;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.micrometer.core.instrument.MeterRegistry;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.health.contributor.HealthIndicator;
import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application sees of its locks, whatever store they are in.
 */
abstract class AbstractStoreTests {

	@Autowired
	private Application.Orders orders;

	@Autowired
	private LockTemplate locks;

	@Autowired
	@Qualifier("distributedLocksHealthIndicator")
	private HealthIndicator health;

	@Autowired
	private MeterRegistry meters;

	@Test
	void methodRunsUnderItsLock() {
		assertThat(this.orders.ship(42, () -> isBusy(42))).isTrue();
		assertThat(this.orders.ship(42, () -> isBusy(43))).isFalse();
		assertThat(isBusy(42)).isFalse();
	}

	@Test
	void healthAndMetersKnowOfLocks() {
		this.orders.ship(44, () -> "shipped");
		assertThat(this.health.health().getStatus()).isEqualTo(Status.UP);
		assertThat(this.meters.getMeters())
			.anyMatch((meter) -> meter.getId().getName().startsWith("distributed.lock"));
	}

	@Test
	void springBootIsTheVersionThatWasAskedFor() {
		assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("spring-boot.version"));
	}

	private boolean isBusy(long order) {
		Optional<HeldLock> lock = this.locks.tryAcquire(LockRequest.of("order", order).waitTime(Duration.ZERO));
		lock.ifPresent(HeldLock::close);
		return lock.isEmpty();
	}

}
