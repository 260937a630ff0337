package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.SmartLifecycle;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.scheduling.concurrent.ThreadPoolTaskExecutor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What becomes of locks when the application's context stops, closes or is started again.
 */
class LockEngineLifecycleTests {

	private static final Duration LONG = Duration.ofMinutes(1);

	private RedisServer server = RedisServer.shared();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private @Nullable ConfigurableApplicationContext context;

	@BeforeEach
	void flush() {
		this.server.flushAll();
	}

	@AfterEach
	void close() {
		if (this.context != null) {
			this.context.close();
		}
		this.threads.shutdownNow();
		if (this.server != RedisServer.shared()) {
			this.server.close();
		}
	}

	@Test
	void stopsBetweenExecutorsAndConnectionFactories() {
		ConfigurableApplicationContext context = start();
		int phase = context.getBean(LockEngineLifecycle.class).getPhase();
		assertThat(phase).isLessThan(new ThreadPoolTaskExecutor().getPhase())
			.isGreaterThan(((SmartLifecycle) context.getBean(RedisConnectionFactory.class)).getPhase());
	}

	@Test
	void f26WorkThatEndsInTimeKeepsItsLockToTheEnd() throws Exception {
		ConfigurableApplicationContext context = start();
		LockTemplate locks = context.getBean(LockTemplate.class);
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		Future<Boolean> work = this.threads.submit(() -> locks.execute(LockRequest.of("key"), (lock) -> {
			working.countDown();
			await(mayEnd);
			return lock.isHeld() && this.server.exists("lock:key");
		}));
		await(working);
		Future<?> closing = this.threads.submit(context::close);
		Awaitility.await().until(() -> !context.getBean(LockEngineLifecycle.class).isRunning());
		assertThat(closing.isDone()).isFalse();
		mayEnd.countDown();
		closing.get(30, TimeUnit.SECONDS);
		assertThat(work.get(30, TimeUnit.SECONDS)).isTrue();
		assertThat(this.server.exists("lock:key")).isFalse();
	}

	@Test
	void f26ContextClosesInTimeWhileLocksAreHeldWaitedForAndLost() throws Exception {
		Set<Thread> before = Thread.getAllStackTraces().keySet();
		ConfigurableApplicationContext context = start("spring.lifecycle.timeout-per-shutdown-phase=1s");
		LockTemplate locks = context.getBean(LockTemplate.class);
		CountDownLatch end = new CountDownLatch(1);
		Future<?> held = runUntil(end, locks, LockRequest.of("held"));
		Future<?> lost = runUntil(end, locks, LockRequest.of("lost"));
		HeldLock handle = locks.acquire(LockRequest.of("handle"));
		this.server.command("SET", "lock:busy", "somebody", "PX", "600000");
		Future<?> waiting = this.threads.submit(() -> locks.executeWithoutResult(LockRequest.of("busy").waitTime(LONG),
				(lock) -> assertThat(lock).isNull()));
		this.server.command("DEL", "lock:lost");
		Awaitility.await().until(() -> this.server.exists("{lock:busy}:queue"));

		long start = System.nanoTime();
		context.close();
		Duration took = Duration.ofNanos(System.nanoTime() - start);

		// 1s for the work, then a few commands; far from the minute of the wait
		assertThat(took).isLessThan(Duration.ofSeconds(30));
		assertThatFailed(waiting, LockNotAcquiredException.class);
		assertThat(handle.isHeld()).isFalse();
		end.countDown();
		assertThatFailed(held, LockLostException.class);
		assertThatFailed(lost, LockLostException.class);
		assertThat(this.server.keys()).contains("lock:busy").doesNotContain("lock:held", "lock:lost", "lock:handle");
		Awaitility.await().untilAsserted(() -> assertThat(ownThreads()).isSubsetOf(before));
	}

	@ParameterizedTest
	@ValueSource(strings = { "lettuce", "jedis" })
	void f26ContextClosesInTimeWhileRedisIsStopped(String clientType) throws Exception {
		this.server = RedisServer.start();
		ConfigurableApplicationContext context = start("spring.data.redis.client-type=" + clientType,
				"spring.lifecycle.timeout-per-shutdown-phase=1s", "distributed-lock.ttl=3s",
				"distributed-lock.command-timeout=1s");
		LockTemplate locks = context.getBean(LockTemplate.class);
		CountDownLatch end = new CountDownLatch(1);
		Future<?> lost = runUntil(end, locks, LockRequest.of("lost"));
		this.server.command("SET", "lock:busy", "somebody", "PX", "600000");
		Future<?> waiting = this.threads.submit(() -> locks.executeWithoutResult(LockRequest.of("busy").waitTime(LONG),
				(lock) -> assertThat(lock).isNull()));
		Awaitility.await().until(() -> this.server.exists("{lock:busy}:queue"));
		this.server.pause();
		long start = System.nanoTime();
		context.close();
		Duration took = Duration.ofNanos(System.nanoTime() - start);
		assertThat(took).isLessThan(Duration.ofSeconds(30));
		// by the stop, and not by an answer
		assertThatFailed(waiting, LockException.class);
		this.server.resume();
		end.countDown();
		assertThatFailed(lost, LockLostException.class);
	}

	@Test
	void noCallerWaitsOnceClosingHasBegun() {
		ConfigurableApplicationContext context = start(StoppingConfiguration.class);
		SlowlyStopping slow = context.getBean(SlowlyStopping.class);
		this.server.command("SET", "lock:busy", "somebody", "PX", "600000");
		context.close();
		assertThat(slow.busyWasGranted).isFalse();
		assertThat(slow.busyTook).isNotNull().isLessThan(LONG);
		assertThat(slow.freeWasGranted).isTrue();
		assertThat(this.server.exists("lock:free")).isFalse();
	}

	@Test
	void taskOfAnExecutorEndsUnderItsLock() throws Exception {
		ConfigurableApplicationContext context = start(StoppingConfiguration.class);
		LockTemplate locks = context.getBean(LockTemplate.class);
		CountDownLatch working = new CountDownLatch(1);
		CountDownLatch mayEnd = new CountDownLatch(1);
		Future<Boolean> task = context.getBean(ThreadPoolTaskExecutor.class)
			.submit(() -> locks.execute(LockRequest.of("task"), (lock) -> {
				working.countDown();
				await(mayEnd);
				return lock.isHeld();
			}));
		await(working);
		Future<?> closing = this.threads.submit(context::close);
		Awaitility.await().until(() -> context.getBean(SlowlyStopping.class).busyTook != null);
		assertThat(context.getBean(LockEngineLifecycle.class).isRunning()).isTrue();
		mayEnd.countDown();
		closing.get(30, TimeUnit.SECONDS);
		assertThat(task.get(30, TimeUnit.SECONDS)).isTrue();
	}

	/** Spring stops and starts the same beans around a checkpoint of CRaC. */
	@Test
	@Tag("cloned-processes")
	void engineThatIsStartedAgainIsAnotherInstance() {
		ConfigurableApplicationContext context = start("spring.lifecycle.timeout-per-shutdown-phase=100ms");
		LockTemplate locks = context.getBean(LockTemplate.class);
		String before = instanceOf(locks.acquire(LockRequest.of("before")));
		context.pause();
		context.restart();
		assertThat(instanceOf(locks.acquire(LockRequest.of("after")))).isNotEqualTo(before);
	}

	private String instanceOf(HeldLock lock) {
		String token = this.server.get("lock:" + lock.keys().get(0));
		assertThat(token).isNotNull();
		return OwnerToken.parse(token).orElseThrow().instance();
	}

	@Test
	void locksWorkAgainInAContextThatIsStartedAgain() {
		ConfigurableApplicationContext context = start("spring.lifecycle.timeout-per-shutdown-phase=100ms");
		LockTemplate locks = context.getBean(LockTemplate.class);
		for (int i = 0; i < 2; i++) {
			HeldLock lock = locks.acquire(LockRequest.of("key"));
			context.stop();
			assertThat(lock.isHeld()).isFalse();
			assertThat(this.server.exists("lock:key")).isFalse();
			context.start();
		}
		try (HeldLock lock = locks.acquire(LockRequest.of("key"))) {
			assertThat(this.server.exists("lock:key")).isTrue();
			assertThat(lock.isHeld()).isTrue();
		}
	}

	@Test
	void contextWithoutLocksIsStartedAgain() {
		ConfigurableApplicationContext context = refresh(ApplicationConfiguration.class);
		context.stop();
		context.start();
		assertThat(context.getBeanFactory().containsSingleton("lockspringLockEngine")).isFalse();
	}

	@Test
	void childContextThatClosesStopsNothing() throws Exception {
		ConfigurableApplicationContext context = start();
		LockTemplate locks = context.getBean(LockTemplate.class);
		GenericApplicationContext child = new GenericApplicationContext();
		child.setParent(context);
		child.refresh();
		child.close();
		try (HeldLock lock = locks.acquire(LockRequest.of("key"))) {
			Future<?> waiting = this.threads.submit(() -> locks.acquire(LockRequest.of("key").waitTime(LONG)).close());
			Awaitility.await().during(Duration.ofMillis(300)).until(() -> !waiting.isDone());
			lock.close();
			waiting.get(30, TimeUnit.SECONDS);
		}
	}

	private ConfigurableApplicationContext start(String... properties) {
		return start(ApplicationConfiguration.class, properties);
	}

	private ConfigurableApplicationContext start(Class<?> configuration, String... properties) {
		ConfigurableApplicationContext started = refresh(configuration, properties);
		// The first connection of a JVM may take longer than a lock waits for it
		Awaitility.await()
			.ignoreExceptions()
			.untilAsserted(() -> started.getBean(LockTemplate.class).acquire(LockRequest.of("first")).close());
		return started;
	}

	private ConfigurableApplicationContext refresh(Class<?> configuration, String... properties) {
		AnnotationConfigApplicationContext started = new AnnotationConfigApplicationContext();
		TestPropertyValues
			.of("distributed-lock.store=redis", "spring.data.redis.host=" + this.server.host(),
					"spring.data.redis.port=" + this.server.port(), "distributed-lock.command-timeout=20s",
					"distributed-lock.wait-time=20s")
			.and(properties)
			.applyTo(started);
		started.register(configuration);
		started.register(Applications.autoConfigurations());
		started.refresh();
		this.context = started;
		return started;
	}

	private Future<?> runUntil(CountDownLatch end, LockTemplate locks, LockRequest request) {
		CountDownLatch working = new CountDownLatch(1);
		Future<?> work = this.threads.submit(() -> locks.executeWithoutResult(request, (lock) -> {
			working.countDown();
			await(end);
		}));
		await(working);
		return work;
	}

	private static void await(CountDownLatch latch) {
		try {
			assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static void assertThatFailed(Future<?> work, Class<? extends Throwable> type) {
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> work.get(30, TimeUnit.SECONDS))
			.satisfies((ex) -> assertThat(ex.getCause()).isInstanceOf(type));
	}

	private static Set<Thread> ownThreads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("lock"))
			.collect(Collectors.toSet());
	}

	@Configuration(proxyBeanMethods = false)
	static class ApplicationConfiguration {

		@Bean
		ThreadPoolTaskExecutor tasks() {
			return new ThreadPoolTaskExecutor();
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class StoppingConfiguration extends ApplicationConfiguration {

		@Bean
		SlowlyStopping slowlyStopping(LockTemplate locks) {
			return new SlowlyStopping(locks);
		}

	}

	/**
	 * Stops before the executors: on the way down, it wants a busy lock and a free one.
	 */
	static class SlowlyStopping implements SmartLifecycle {

		private final LockTemplate locks;

		private volatile boolean running;

		volatile @Nullable Duration busyTook;

		volatile boolean busyWasGranted;

		volatile boolean freeWasGranted;

		SlowlyStopping(LockTemplate locks) {
			this.locks = locks;
		}

		@Override
		public void start() {
			this.running = true;
		}

		@Override
		public void stop() {
			long start = System.nanoTime();
			try (HeldLock lock = this.locks.acquire(LockRequest.of("busy").waitTime(LONG))) {
				this.busyWasGranted = lock.isHeld();
			}
			catch (LockException ex) {
				this.busyWasGranted = false;
			}
			this.busyTook = Duration.ofNanos(System.nanoTime() - start);
			try (HeldLock lock = this.locks.acquire(LockRequest.of("free"))) {
				this.freeWasGranted = lock.isHeld();
			}
			catch (LockException ex) {
				this.freeWasGranted = false;
			}
			this.running = false;
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

}
