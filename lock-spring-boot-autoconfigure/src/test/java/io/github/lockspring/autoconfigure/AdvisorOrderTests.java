package io.github.lockspring.autoconfigure;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.autoconfigure.OrderedApplication.Trace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cache.annotation.Cacheable;
import org.springframework.cache.annotation.EnableCaching;
import org.springframework.core.Ordered;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Who runs inside whom where {@code @DistributedLock} stands on the same method as other
 * annotations of Spring's, in an application of Spring Boot's.
 */
class AdvisorOrderTests {

	private final ApplicationContextRunner application = OrderedApplication.with(Shop.class)
		.withUserConfiguration(Features.class);

	@Test
	@Tag("early-release")
	void f25LockIsReleasedAfterTheCommit() {
		this.application.run((context) -> {
			context.getBean(Shop.class).ship("42");
			assertThat(context.getBean(Trace.class).steps()).containsExactly("lock 42", "begin ship", "fenced", "work",
					"commit ship", "release 42");
		});
	}

	@Test
	@Tag("early-release")
	void f25LockInsideItsOwnTransactionIsReleasedAfterTheCommitToo() {
		OrderedApplication.with(Shop.class).withUserConfiguration(TransactionsFirst.class).run((context) -> {
			context.getBean(Shop.class).ship("42");
			assertThat(context.getBean(Trace.class).steps()).containsExactly("begin ship", "lock 42", "fenced", "work",
					"commit ship", "release 42");
		});
	}

	@Test
	void cacheIsReadAndFilledUnderTheLock() {
		this.application.run((context) -> {
			assertThat(context.getBean(Shop.class).price("42")).isEqualTo(7);
			assertThat(context.getBean(Shop.class).price("42")).isEqualTo(7);
			assertThat(context.getBean(Trace.class).steps()).containsExactly("lock 42", "miss", "work", "put",
					"release 42", "lock 42", "hit", "release 42");
		});
	}

	@Test
	void hitOfACacheOutsideTakesNoLock() {
		OrderedApplication.with(Shop.class).withUserConfiguration(CachesFirst.class).run((context) -> {
			assertThat(context.getBean(Shop.class).price("42")).isEqualTo(7);
			assertThat(context.getBean(Shop.class).price("42")).isEqualTo(7);
			assertThat(context.getBean(Trace.class).steps()).containsExactly("miss", "lock 42", "work", "release 42",
					"put", "hit");
		});
	}

	/** The cache calls the method on a thread of its own. */
	@Test
	void lockIsKeptUntilAFutureThatACacheWaitsForIsDone() {
		OrderedApplication.with(AsynchronousPrices.class).withUserConfiguration(Features.class).run((context) -> {
			assertThat(context.getBean(AsynchronousPrices.class).price("42").get(10, TimeUnit.SECONDS)).isEqualTo(7);
			assertThat(context.getBean(Trace.class).steps()).containsExactly("lock 42", "42 is busy", "release 42");
		});
	}

	@Test
	void retriesInsideOfTheLockShareItsLease() {
		OrderedApplication.with(Shop.class).withUserConfiguration(RetriesFirst.class).run((context) -> {
			context.getBean(Shop.class).retried("42");
			assertThat(context.getBean(Trace.class).steps()).containsExactly("lock 42", "begin retried", "work", "work",
					"commit retried", "release 42");
		});
	}

	@Test
	void allOfThemTogetherAreAsyncRetryLockAndThenCacheAndTransaction() {
		this.application.run((context) -> {
			assertThat(context.getBean(Shop.class).everything("42").get(10, TimeUnit.SECONDS)).isEqualTo(7);
			List<String> steps = context.getBean(Trace.class).steps();
			// of cache and transaction, Spring gives both the same order
			assertThat(steps).containsSubsequence("lock 42", "miss", "work", "release 42", "lock 42", "miss", "work",
					"put", "release 42");
			assertThat(steps).containsSubsequence("lock 42", "begin everything", "work", "rollback everything",
					"release 42", "lock 42", "begin everything", "work", "commit everything", "release 42");
			assertThat(steps).hasSize(13).startsWith("lock 42").endsWith("release 42");
		});
	}

	@EnableCaching(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	@EnableAsync(proxyTargetClass = true)
	static class Features {

	}

	@EnableAsync(proxyTargetClass = true)
	@EnableTransactionManagement(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class TransactionsFirst {

	}

	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class RetriesFirst {

	}

	@EnableAsync(proxyTargetClass = true)
	@EnableCaching(proxyTargetClass = true, order = Ordered.HIGHEST_PRECEDENCE)
	static class CachesFirst {

	}

	static class Shop {

		private final Trace trace;

		private final AtomicInteger failures = new AtomicInteger(1);

		Shop(Trace trace) {
			this.trace = trace;
		}

		@Fenced
		@Transactional
		@DistributedLock(key = "#id")
		public void ship(String id) {
			this.trace.note("work");
		}

		@Cacheable("prices")
		@DistributedLock(key = "#id")
		public int price(String id) {
			this.trace.note("work");
			return 7;
		}

		@Retryable(maxRetries = 1, delay = 0)
		@Transactional
		@DistributedLock(key = "#id")
		public void retried(String id) {
			workAtTheSecondAttempt();
		}

		@Async
		@Retryable(maxRetries = 1, delay = 0)
		@Cacheable("orders")
		@Transactional
		@DistributedLock(key = "#id")
		public Future<Integer> everything(String id) {
			workAtTheSecondAttempt();
			return CompletableFuture.completedFuture(7);
		}

		private void workAtTheSecondAttempt() {
			this.trace.note("work");
			if (this.failures.getAndDecrement() > 0) {
				throw new IllegalStateException("again");
			}
		}

	}

	static class AsynchronousPrices {

		private final Trace trace;

		private final LockTemplate locks;

		AsynchronousPrices(Trace trace, LockTemplate locks) {
			this.trace = trace;
			this.locks = locks;
		}

		@Async
		@Cacheable(cacheNames = "prices", sync = true)
		@DistributedLock(key = "#id")
		public CompletableFuture<Integer> price(String id) {
			return CompletableFuture.supplyAsync(() -> {
				this.trace.noteWhetherBusy(this.locks, id);
				return 7;
			});
		}

	}

}
