package io.github.lockspring.internal.interceptor;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnBusy;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Annotated methods that call each other, and busy ones beside {@code @Async}, with a
 * real engine.
 */
class LockedCallTests {

	private final AnnotationConfigApplicationContext context = LockContexts.start(Asynchronous.class, Jobs.class,
			Outer.class, Inner.class, Retried.class);

	private final RecordingLocks locks = this.context.getBean(RecordingLocks.class);

	private final Jobs jobs = this.context.getBean(Jobs.class);

	@AfterEach
	void stop() {
		this.context.close();
	}

	@Test
	void f18AnnotatedMethodMayCallAnotherOneWithTheSameKey() {
		assertThat(this.context.getBean(Outer.class).run("42")).containsExactly("42", "42");
		this.locks.acquire(once("42")).close();
	}

	@Test
	void f18OuterMethodKeepsTheLockWhenInnerOneReturns() {
		assertThat(this.context.getBean(Outer.class).isHeldAfterInnerCall("42")).isTrue();
	}

	@Test
	void busyAsyncMethodFailsItsFuture() {
		try (HeldLock other = this.locks.acquire(once("42"))) {
			assertThat(other.isHeld()).isTrue();
			assertThat(this.jobs.runOnce("42")).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.withCauseInstanceOf(LockNotAcquiredException.class);
			assertThat(this.jobs.skip("42")).succeedsWithin(Duration.ofSeconds(10)).isNull();
		}
	}

	@Test
	void asyncMethodKeepsItsLockUntilItsFutureIsDone() throws Exception {
		CompletableFuture<String> result = this.jobs.later("42");
		assertThat(this.jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
		assertThat(this.locks.tryAcquire(LockRequest.of("42").waitTime(Duration.ofMillis(200)))).isEmpty();
		this.jobs.remote().complete("done");
		assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
		this.locks.acquire(once("42")).close();
	}

	@Test
	void interruptEndsNeitherTheWorkOfAnAsyncMethodNorItsLock() throws Exception {
		Future<String> result = this.jobs.cancellable("42");
		assertThat(this.jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
		result.cancel(true);
		assertThat(this.locks.tryAcquire(LockRequest.of("42").waitTime(Duration.ofMillis(400)))).isEmpty();
		this.jobs.remote().complete("done");
		this.locks.acquire(LockRequest.of("42").waitTime(Duration.ofSeconds(10))).close();
	}

	@Test
	void interruptEndsTheWaitForAnAsyncMethodWhoseLockIsLost() throws Exception {
		this.jobs.cancellable("42");
		assertThat(this.jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
		this.jobs.worker().interrupt();
		this.locks.engine.stop();
		this.jobs.worker().join(10_000);
		assertThat(this.jobs.worker().isAlive()).isFalse();
	}

	@Test
	void asyncMethodWhoseFutureFailsFailsWithTheSameException() {
		this.jobs.remote().completeExceptionally(new IOException("remote"));
		assertThat(this.jobs.later("42")).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.havingCause()
			.isExactlyInstanceOf(IOException.class)
			.withMessage("remote");
		this.locks.acquire(once("42")).close();
	}

	@Test
	void busyAsyncVoidMethodNotifiesTheHandler() throws InterruptedException {
		try (HeldLock other = this.locks.acquire(once("42"))) {
			assertThat(other.isHeld()).isTrue();
			this.jobs.fire("42");
			Asynchronous handler = this.context.getBean(Asynchronous.class);
			assertThat(handler.told.await(10, TimeUnit.SECONDS)).isTrue();
			assertThat(handler.failure.get()).isInstanceOf(LockNotAcquiredException.class)
				.hasMessageContainingAll("42", "Jobs.fire");
		}
	}

	@Test
	void eachRetryTakesALockOfItsOwn() {
		Retried retried = this.context.getBean(Retried.class);
		retried.run();
		assertThat(retried.tokens()).hasSize(3).doesNotHaveDuplicates();
	}

	private static LockRequest once(String key) {
		return LockRequest.of(key).waitTime(Duration.ZERO);
	}

	static class Inner {

		@DistributedLock(key = "#id")
		public String run(String id) {
			return HeldLock.current(id).map((lock) -> lock.keys().get(0)).orElse("nothing");
		}

	}

	static class Retried {

		private final List<Long> tokens = new ArrayList<>();

		List<Long> tokens() {
			return this.tokens;
		}

		@Retryable(maxRetries = 2, delay = 1)
		@DistributedLock(key = "'retried'")
		public void run() {
			this.tokens.add(HeldLock.current().orElseThrow().fencingToken());
			if (this.tokens.size() < 3) {
				throw new IllegalStateException();
			}
		}

	}

	static class Outer {

		private final Inner inner;

		Outer(Inner inner) {
			this.inner = inner;
		}

		@DistributedLock(key = "#id", waitTime = "0s")
		public List<String> run(String id) {
			return List.of(this.inner.run(id), this.inner.run(id));
		}

		@DistributedLock(key = "#id")
		public boolean isHeldAfterInnerCall(String id) {
			this.inner.run(id);
			return HeldLock.current(id).map(HeldLock::isHeld).orElse(false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
	@EnableResilientMethods(proxyTargetClass = true)
	static class Asynchronous implements AsyncConfigurer {

		private final CountDownLatch told = new CountDownLatch(1);

		private final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();

		@Override
		public AsyncUncaughtExceptionHandler getAsyncUncaughtExceptionHandler() {
			return (failure, method, arguments) -> {
				this.failure.set(failure);
				this.told.countDown();
			};
		}

	}

	static class Jobs {

		private final CountDownLatch begun = new CountDownLatch(1);

		private final CompletableFuture<String> remote = new CompletableFuture<>();

		private volatile Thread worker = Thread.currentThread();

		Thread worker() {
			return this.worker;
		}

		CountDownLatch begun() {
			return this.begun;
		}

		CompletableFuture<String> remote() {
			return this.remote;
		}

		@Async
		@DistributedLock(key = "#id")
		public CompletableFuture<String> later(String id) {
			this.begun.countDown();
			return this.remote;
		}

		@Async
		@DistributedLock(key = "#id")
		public Future<String> cancellable(String id) {
			this.worker = Thread.currentThread();
			this.begun.countDown();
			return this.remote;
		}

		@Async
		@DistributedLock(key = "#id", waitTime = "0s")
		public CompletableFuture<String> runOnce(String id) {
			return CompletableFuture.completedFuture(id);
		}

		@Async
		@DistributedLock(key = "#id", onBusy = OnBusy.SKIP)
		public CompletableFuture<String> skip(String id) {
			return CompletableFuture.completedFuture(id);
		}

		@Async
		@DistributedLock(key = "#id", waitTime = "0s")
		public void fire(String id) {
		}

	}

}
