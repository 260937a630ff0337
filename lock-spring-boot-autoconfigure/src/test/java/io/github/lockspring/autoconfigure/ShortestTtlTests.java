package io.github.lockspring.autoconfigure;

import java.time.Duration;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.store.DelegatingLockStore;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.junit.jupiter.api.Test;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * A store that cannot give every ttl.
 */
class ShortestTtlTests {

	private final ApplicationContextRunner runner = Applications.withoutRedis()
		.withUserConfiguration(StoreOfTenSeconds.class);

	@Test
	void annotationWithAShorterTtlStopsTheStartWithBothNumbers() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(Brief.class));
		assertThat(failure.getDescription()).contains("ttl = \"2s\"")
			.contains("the store of this application cannot give less than 10s");
		assertThat(failure.getAction()).contains("Choose at least that, or another store");
	}

	@Test
	void eachOfSeveralAnnotationsIsChecked() {
		FailureAnalysis failure = StartupFailures.of(this.runner.withUserConfiguration(SecondIsBrief.class));
		assertThat(failure.getDescription()).contains("ttl = \"3s\"").contains("cannot give less than 10s");
	}

	@Test
	void propertyWithAShorterTtlStopsTheStartWithBothNumbers() {
		FailureAnalysis failure = StartupFailures
			.of(this.runner.withUserConfiguration(Patient.class).withPropertyValues("distributed-lock.ttl=9s"));
		assertThat(failure.getDescription()).contains("distributed-lock.ttl").contains("9s").contains("less than 10s");
	}

	@Test
	void requestForAShorterTtlIsRefusedAndOthersAreNot() {
		this.runner.withUserConfiguration(Patient.class).run((context) -> {
			assertThat(context).hasNotFailed();
			LockTemplate locks = context.getBean(LockTemplate.class);
			assertThatIllegalArgumentException()
				.isThrownBy(() -> locks.acquire(LockRequest.of("a").ttl(Duration.ofSeconds(1)).renew(false)))
				.withMessageContaining("ttl = 1s")
				.withMessageContaining("less than 10s");
			locks.acquire(LockRequest.of("a").ttl(Duration.ofSeconds(10)).renew(false)).close();
		});
	}

	@Configuration(proxyBeanMethods = false)
	static class StoreOfTenSeconds {

		@Bean
		LockStore store() {
			StoreTraits traits = new StoreTraits(Duration.ofSeconds(10), Duration.ofSeconds(1), null, false, false);
			return new DelegatingLockStore(new MemoryLockStore()) {

				@Override
				public StoreTraits traits() {
					return traits;
				}

			};
		}

	}

	static class Brief {

		@DistributedLock(key = "'a'", ttl = "2s")
		void run() {
		}

	}

	static class SecondIsBrief {

		@DistributedLock(key = "'a'", ttl = "10s")
		void first() {
		}

		@DistributedLock(key = "'b'", ttl = "3s")
		void run() {
		}

	}

	static class Patient {

		@DistributedLock(key = "'a'", ttl = "10s")
		void run() {
		}

	}

}
