package io.github.lockspring.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.redis.internal.client.IdleConnections;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import static io.github.lockspring.redis.StoreFixture.acquire;
import static io.github.lockspring.redis.StoreFixture.isAcquired;
import static io.github.lockspring.redis.StoreFixture.token;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * Redis stops, dies, or cannot be reached: callers learn it in time, and when it is back
 * everything works again by itself.
 */
class RedisOutageTests {

	private static final int CALLERS = 100;

	// one after the other they would take 100 s, and six at once still 17 s
	private static final Duration SOON = Duration.ofSeconds(10);

	private static final Duration TIMEOUT = Duration.ofSeconds(1);

	@ParameterizedTest
	@CsvSource({ "LETTUCE, true", "JEDIS, true", "LETTUCE, false", "JEDIS, false" })
	void f22StoppedServerFailsManyCallersWithinOneTimeoutAndIsUsedAgain(Driver driver, boolean connected)
			throws Exception {
		assertManyCallersFailSoonAndLaterOnesDoNot(driver, connected, RedisServer::pause, RedisServer::resume);
	}

	@ParameterizedTest
	@CsvSource({ "LETTUCE, true", "JEDIS, true", "LETTUCE, false", "JEDIS, false" })
	void f22KilledServerFailsManyCallersAtOnceAndIsUsedWhenItIsThere(Driver driver, boolean connected)
			throws Exception {
		assertManyCallersFailSoonAndLaterOnesDoNot(driver, connected, RedisServer::kill, RedisServer::restart);
	}

	@ParameterizedTest
	@EnumSource
	void restartBetweenTwoCommandsFailsOneOfThem(Driver driver) throws Exception {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), TIMEOUT)) {
			warmUp(store);
			// several connections, all of which the restart ends
			callAtOnce(20, () -> isAcquired(store, "k", token()));
			server.restart();
			AtomicInteger failures = new AtomicInteger();
			await().until(() -> {
				try {
					return isAcquired(store, "back", token());
				}
				catch (LockUnavailableException ex) {
					failures.incrementAndGet();
					return false;
				}
			});
			// Lettuce rejects commands until it has connected again
			assertThat(failures.get()).isLessThanOrEqualTo((driver == Driver.JEDIS) ? 1 : 10);
		}
	}

	@ParameterizedTest
	@EnumSource
	void connectionThatVanishedWithoutAWordIsReplaced(Driver driver) throws Exception {
		Duration timeout = Duration.ofMillis(300);
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				RedisLockStore store = driver.store(proxy.port(), timeout)) {
			await().ignoreExceptions().until(() -> isAcquired(store, "first " + driver, token()));
			proxy.stall();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store, "second", token()));
			// bytes flow again for new connections only
			proxy.restoreForNewConnections();
			await().ignoreExceptions().until(() -> isAcquired(store, "third " + driver, token()));
		}
	}

	/** As after a firewall has forgotten it. Defect 13. */
	@ParameterizedTest
	@EnumSource
	void callWithoutWaitTimeSucceedsOverAConnectionThatVanishedWhileItWasIdle(Driver driver) {
		LockRequest request = LockRequest.of("idle " + driver).waitTime(Duration.ZERO);
		try (TcpProxy proxy = new TcpProxy(RedisServer.shared().port());
				Instance instance = Instance.patient(driver, proxy.port())) {
			instance.locks().acquire(request).close();
			IdleConnections.age(instance.store());
			proxy.restoreForNewConnections();
			HeldLock held = instance.locks().acquire(request);
			assertThat(held.isHeld()).isTrue();
			held.close();
		}
	}

	/**
	 * The pool replaces the connection before the caller returns, which takes a command
	 * timeout. Over Lettuce no caller waits.
	 */
	@Test
	void timeoutOfOneCallIsItsOwnOverJedis() throws Exception {
		Duration commandTimeout = Duration.ofSeconds(3);
		try (RedisServer server = RedisServer.start();
				RedisLockStore store = Driver.JEDIS.store(server.port(), commandTimeout)) {
			warmUp(store);
			server.pause();
			long start = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> acquire(store, "k", token(), false, Duration.ofMillis(100)))
				.withMessageContaining("did not reply within 100ms");
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(Duration.ofMillis(99),
					commandTimeout.multipliedBy(3));
			server.resume();
		}
	}

	private static void warmUp(RedisLockStore store) {
		// the first connection in a JVM loads the driver's classes, which is not what is
		// measured
		await().atMost(Duration.ofMinutes(1)).ignoreExceptions().until(() -> isAcquired(store, "warm-up", token()));
	}

	private static void assertManyCallersFailSoonAndLaterOnesDoNot(Driver driver, boolean connected,
			Consumer<RedisServer> fail, Consumer<RedisServer> comeBack) throws Exception {
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), TIMEOUT)) {
			if (connected) {
				warmUp(store);
			}
			fail.accept(server);
			List<Duration> times = callAtOnce(CALLERS, () -> {
				long start = System.nanoTime();
				assertThatExceptionOfType(LockUnavailableException.class)
					.isThrownBy(() -> acquire(store, "k", token(), false, TIMEOUT));
				return Duration.ofNanos(System.nanoTime() - start);
			});
			assertThat(Collections.max(times)).isLessThan(SOON);
			comeBack.accept(server);
			await().ignoreExceptions().until(() -> isAcquired(store, "back", token()));
		}
	}

	private static <T> List<T> callAtOnce(int callers, Callable<T> call) throws Exception {
		ExecutorService threads = Executors.newFixedThreadPool(callers);
		try {
			CyclicBarrier ready = new CyclicBarrier(callers);
			List<Future<T>> futures = Stream.generate(() -> threads.submit(() -> {
				ready.await();
				return call.call();
			})).limit(callers).toList();
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get());
			}
			return results;
		}
		finally {
			threads.shutdownNow();
		}
	}

}
