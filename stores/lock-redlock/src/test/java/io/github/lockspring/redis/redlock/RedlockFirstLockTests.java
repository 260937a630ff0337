package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedlockServers;
import io.github.lockspring.testsupport.store.Instance;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The first lock of a JVM waits for connections to a majority of the nodes, and no
 * longer. Several tests at once, since each waits most of the time.
 */
@Execution(ExecutionMode.CONCURRENT)
class RedlockFirstLockTests {

	private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(6);

	private static final Duration CONNECT_TIMEOUT = Duration.ofMinutes(1);

	private static final LockRequest REQUEST = LockRequest.of("first-lock").waitTime(Duration.ZERO);

	@ParameterizedTest
	@EnumSource
	void isAcquiredWhenConnectingTakesLongerThanACommand(Driver driver) {
		try (RedlockServers servers = RedlockServers.start(3)) {
			for (int node = 0; node < 3; node++) {
				servers.proxy(node).hold();
			}
			try (Instance instance = instance(driver, servers)) {
				CompletableFuture.delayedExecutor(7, TimeUnit.SECONDS).execute(servers::restore);
				acquireAndRelease(instance);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void doesNotWaitForAMinority(Driver driver) {
		try (RedlockServers servers = RedlockServers.start(5)) {
			servers.proxy(0).stall();
			servers.proxy(3).hold();
			try (Instance instance = instance(driver, servers)) {
				long start = System.nanoTime();
				acquireAndRelease(instance);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CONNECT_TIMEOUT);
			}
		}
	}

	private static Instance instance(Driver driver, RedlockServers servers) {
		RedlockSettings settings = new RedlockSettings("lock:", COMMAND_TIMEOUT, CONNECT_TIMEOUT,
				COMMAND_TIMEOUT.dividedBy(3), 0.01, Duration.ofSeconds(30), true);
		return Instance.over(RedlockLockStore.create(driver.redlockNodes(servers.proxyPorts()), settings))
			.commandTimeout(COMMAND_TIMEOUT)
			.start();
	}

	private static void acquireAndRelease(Instance instance) {
		HeldLock lock = instance.locks().acquire(REQUEST);
		assertThat(lock.isHeld()).isTrue();
		lock.close();
	}

}
