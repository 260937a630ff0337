package io.github.lockspring.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
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
		CountDownLatch mayEnd = new CountDownLatch(1);
		Future<Boolean> work = runUntil(mayEnd, this.threads, locks, "key");
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
		Future<?> held = runUntil(end, this.threads, locks, "held");
		Future<?> lost = runUntil(end, this.threads, locks, "lost");
		HeldLock handle = locks.acquire(LockRequest.of("handle"));
		Future<?> waiting = waitForBusyLock(locks);
		this.server.command("DEL", "lock:lost");
		assertClosesInTime(context);
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
		Future<?> lost = runUntil(end, this.threads, locks, "lost");
		Future<?> waiting = waitForBusyLock(locks);
		this.server.pause();
		assertClosesInTime(context);
		// by the stop, and not by an answer
		assertThatFailed(waiting, LockException.class);
		this.server.resume();
		end.countDown();
		assertThatFailed(lost, LockLostException.class);
	}

	@Test
	void noCallerWaitsOnceClosingHasBegun() {
		ConfigurableApplicationContext context = start(List.of(SlowlyStopping.class));
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
		ConfigurableApplicationContext context = start(List.of(SlowlyStopping.class));
		LockTemplate locks = context.getBean(LockTemplate.class);
		CountDownLatch mayEnd = new CountDownLatch(1);
		Future<Boolean> task = runUntil(mayEnd, context.getBean(ThreadPoolTaskExecutor.class), locks, "task");
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
		ConfigurableApplicationContext context = refresh(List.of());
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
		return start(List.of(), properties);
	}

	private ConfigurableApplicationContext start(List<Class<?>> beans, String... properties) {
		ConfigurableApplicationContext started = refresh(beans, properties);
		// The first connection of a JVM may take longer than a lock waits for it
		Awaitility.await()
			.ignoreExceptions()
			.untilAsserted(() -> started.getBean(LockTemplate.class).acquire(LockRequest.of("first")).close());
		return started;
	}

	private ConfigurableApplicationContext refresh(List<Class<?>> beans, String... properties) {
		AnnotationConfigApplicationContext started = new AnnotationConfigApplicationContext();
		TestPropertyValues
			.of("distributed-lock.store=redis", "spring.data.redis.host=" + this.server.host(),
					"spring.data.redis.port=" + this.server.port(), "distributed-lock.command-timeout=20s",
					"distributed-lock.wait-time=20s")
			.and(properties)
			.applyTo(started);
		beans.forEach(started::register);
		started.register(ThreadPoolTaskExecutor.class);
		started.register(Applications.autoConfigurations());
		started.refresh();
		this.context = started;
		return started;
	}

	/** Returns whether the lock was held at the end of its work. */
	private Future<Boolean> runUntil(CountDownLatch end, Executor executor, LockTemplate locks, String key) {
		CountDownLatch working = new CountDownLatch(1);
		Future<Boolean> work = CompletableFuture.supplyAsync(() -> locks.execute(LockRequest.of(key), (lock) -> {
			working.countDown();
			await(end);
			return lock.isHeld() && this.server.exists("lock:" + key);
		}), executor);
		await(working);
		return work;
	}

	private Future<?> waitForBusyLock(LockTemplate locks) {
		this.server.command("SET", "lock:busy", "somebody", "PX", "600000");
		Future<?> waiting = this.threads.submit(() -> locks.executeWithoutResult(LockRequest.of("busy").waitTime(LONG),
				(lock) -> assertThat(lock).isNull()));
		Awaitility.await().until(() -> this.server.exists("{lock:busy}:queue"));
		return waiting;
	}

	private static void assertClosesInTime(ConfigurableApplicationContext context) {
		long start = System.nanoTime();
		context.close();
		// 1s for the work, then a few commands; far from the minute of the wait
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(30));
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
			this.busyWasGranted = isGranted("busy");
			this.busyTook = Duration.ofNanos(System.nanoTime() - start);
			this.freeWasGranted = isGranted("free");
			this.running = false;
		}

		private boolean isGranted(String key) {
			try (HeldLock lock = this.locks.acquire(LockRequest.of(key).waitTime(LONG))) {
				return lock.isHeld();
			}
			catch (LockException ex) {
				return false;
			}
		}

		@Override
		public boolean isRunning() {
			return this.running;
		}

	}

}
