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
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.OnBusy;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.store.memory.MemoryLockStore;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.aop.interceptor.AsyncUncaughtExceptionHandler;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.AsyncConfigurer;
import org.springframework.scheduling.annotation.EnableAsync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Annotated methods that call each other, and busy ones beside {@code @Async}, with a
 * real engine.
 */
class LockedCallTests {

	@Test
	void f18AnnotatedMethodMayCallAnotherOneWithTheSameKey() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Outer.class, Inner.class)) {
			assertThat(context.getBean(Outer.class).run("42")).containsExactly("42", "42");
			context.getBean(LockTemplate.class).acquire(once("42")).close();
		}
	}

	@Test
	void f18OuterMethodKeepsTheLockWhenInnerOneReturns() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Outer.class, Inner.class)) {
			assertThat(context.getBean(Outer.class).isHeldAfterInnerCall("42")).isTrue();
		}
	}

	@Test
	void busyAsyncMethodFailsItsFuture() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class); HeldLock other = context.getBean(LockTemplate.class).acquire(once("42"))) {
			assertThat(other.isHeld()).isTrue();
			CompletableFuture<String> result = context.getBean(Jobs.class).runOnce("42");
			assertThat(result).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.withCauseInstanceOf(LockNotAcquiredException.class);
			assertThat(context.getBean(Jobs.class).skip("42")).succeedsWithin(Duration.ofSeconds(10)).isNull();
		}
	}

	@Test
	void asyncMethodKeepsItsLockUntilItsFutureIsDone() throws Exception {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class)) {
			Jobs jobs = context.getBean(Jobs.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			CompletableFuture<String> result = jobs.later("42");
			assertThat(jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
			assertThat(locks.tryAcquire(LockRequest.of("42").waitTime(Duration.ofMillis(200)))).isEmpty();
			jobs.remote().complete("done");
			assertThat(result).succeedsWithin(Duration.ofSeconds(10)).isEqualTo("done");
			locks.acquire(once("42")).close();
		}
	}

	@Test
	void interruptEndsNeitherTheWorkOfAnAsyncMethodNorItsLock() throws Exception {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class)) {
			Jobs jobs = context.getBean(Jobs.class);
			LockTemplate locks = context.getBean(LockTemplate.class);
			Future<String> result = jobs.cancellable("42");
			assertThat(jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
			result.cancel(true);
			assertThat(locks.tryAcquire(LockRequest.of("42").waitTime(Duration.ofMillis(400)))).isEmpty();
			jobs.remote().complete("done");
			locks.acquire(LockRequest.of("42").waitTime(Duration.ofSeconds(10))).close();
		}
	}

	@Test
	void interruptEndsTheWaitForAnAsyncMethodWhoseLockIsLost() throws Exception {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class)) {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.cancellable("42");
			assertThat(jobs.begun().await(10, TimeUnit.SECONDS)).isTrue();
			jobs.worker().interrupt();
			context.getBean(LockEngine.class).stop();
			jobs.worker().join(10_000);
			assertThat(jobs.worker().isAlive()).isFalse();
		}
	}

	@Test
	void asyncMethodWhoseFutureFailsFailsWithTheSameException() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class)) {
			Jobs jobs = context.getBean(Jobs.class);
			jobs.remote().completeExceptionally(new IOException("remote"));
			assertThat(jobs.later("42")).failsWithin(Duration.ofSeconds(10))
				.withThrowableThat()
				.havingCause()
				.isExactlyInstanceOf(IOException.class)
				.withMessage("remote");
			context.getBean(LockTemplate.class).acquire(once("42")).close();
		}
	}

	@Test
	void busyAsyncVoidMethodNotifiesTheHandler() throws InterruptedException {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Asynchronous.class,
				Jobs.class); HeldLock other = context.getBean(LockTemplate.class).acquire(once("42"))) {
			assertThat(other.isHeld()).isTrue();
			context.getBean(Jobs.class).fire("42");
			Asynchronous handler = context.getBean(Asynchronous.class);
			assertThat(handler.told.await(10, TimeUnit.SECONDS)).isTrue();
			assertThat(handler.failure.get()).isInstanceOf(LockNotAcquiredException.class)
				.hasMessageContainingAll("42", "Jobs.fire");
		}
	}

	@Test
	void methodFindsTheTokenOfItsLock() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Inner.class)) {
			Inner inner = context.getBean(Inner.class);
			long first = inner.token("42");
			assertThat(inner.token("42")).isGreaterThan(first);
		}
	}

	@Test
	void eachRetryTakesALockOfItsOwn() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Retrying.class,
				Retried.class)) {
			Retried retried = context.getBean(Retried.class);
			retried.run();
			assertThat(retried.tokens()).hasSize(3).doesNotHaveDuplicates();
		}
	}

	@Test
	void leaseWithoutRenewalEndsAfterTheTtlOfTheProperty() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(BriefEngine.class, Leases.class)) {
			assertThatExceptionOfType(LockLostException.class)
				.isThrownBy(() -> context.getBean(Leases.class).notRenewed())
				.withMessageContaining("Leases.notRenewed");
		}
	}

	@Test
	void leaseWithATtlOfItsOwnIsRenewed() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(BriefEngine.class, Leases.class)) {
			assertThat(context.getBean(Leases.class).renewed()).isTrue();
		}
	}

	@Test
	void busyErrorNamesKeyAndMethod() throws Exception {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Inner.class)) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			HeldLock other = CompletableFuture.supplyAsync(() -> locks.acquire(LockRequest.of("42"))).get();
			assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> context.getBean(Inner.class).once("42"))
				.withMessageContainingAll("'42'", "Inner.once");
			other.close();
			assertThat(context.getBean(Inner.class).once("42")).isEqualTo("42");
		}
	}

	@Test
	void nameAndKeyOfAProgramAreTheLockOfTheAnnotation() {
		try (AnnotationConfigApplicationContext context = LockContexts.start(Engine.class, Named.class)) {
			LockTemplate locks = context.getBean(LockTemplate.class);
			Named named = context.getBean(Named.class);
			try (HeldLock other = locks.acquire(LockRequest.of("a:order", 42))) {
				assertThat(other.keys()).containsExactly("a%3Aorder:42");
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> named.ship(42));
				assertThat(named.ship(43)).containsExactly("a%3Aorder:43");
			}
		}
	}

	private static LockRequest once(String key) {
		return LockRequest.of(key).waitTime(Duration.ZERO);
	}

	@Configuration(proxyBeanMethods = false)
	static class Engine {

		@Bean
		LockEngine engine() {
			EngineSettings defaults = EngineSettings.defaults();
			return new LockEngine(new MemoryLockStore(), new EngineSettings(defaults.ttl(), defaults.waitTime(), null,
					defaults.commandTimeout(), Duration.ofSeconds(1), false), LockEvents.NOBODY);
		}

		@Bean
		@Primary
		LockTemplate template(LockEngine engine) {
			return engine.template();
		}

	}

	static class Named {

		@DistributedLock(name = "a:order", key = "#id", waitTime = "0s")
		public List<String> ship(int id) {
			return HeldLock.current().orElseThrow().keys();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class BriefEngine {

		@Bean
		LockEngine engine() {
			EngineSettings defaults = EngineSettings.defaults();
			return new LockEngine(new MemoryLockStore(), new EngineSettings(Duration.ofMillis(400), defaults.waitTime(),
					null, defaults.commandTimeout(), defaults.shutdownTimeout(), false), LockEvents.NOBODY);
		}

		@Bean
		@Primary
		LockTemplate template(LockEngine engine) {
			return engine.template();
		}

	}

	static class Leases {

		@DistributedLock(key = "'lease'", renew = false)
		public void notRenewed() {
			HeldLock lock = HeldLock.current().orElseThrow();
			await().until(() -> !lock.isHeld());
		}

		@DistributedLock(key = "'lease'", ttl = "800ms")
		public boolean renewed() {
			HeldLock lock = HeldLock.current().orElseThrow();
			await().pollDelay(Duration.ofSeconds(2)).until(() -> true);
			return lock.isHeld();
		}

	}

	static class Inner {

		@DistributedLock(key = "#id")
		public String run(String id) {
			return HeldLock.current(id).map((lock) -> lock.keys().get(0)).orElse("nothing");
		}

		@DistributedLock(key = "#id")
		public long token(String id) {
			return HeldLock.current().orElseThrow().fencingToken();
		}

		@DistributedLock(key = "#id", waitTime = "0s")
		public String once(String id) {
			return id;
		}

	}

	@EnableResilientMethods(proxyTargetClass = true)
	static class Retrying {

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
			return List.of(this.inner.run(id), this.inner.once(id));
		}

		@DistributedLock(key = "#id")
		public boolean isHeldAfterInnerCall(String id) {
			this.inner.run(id);
			return HeldLock.current(id).map(HeldLock::isHeld).orElse(false);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@EnableAsync(proxyTargetClass = true)
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
