package io.github.lockspring.redis.redlock;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.redis.Driver;
import io.github.lockspring.testsupport.redis.RedlockServers;
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
			try (RedlockLockStore store = store(driver, servers); LockEngine engine = engine(store)) {
				CompletableFuture.delayedExecutor(7, TimeUnit.SECONDS).execute(servers::restore);
				acquireAndRelease(engine);
			}
		}
	}

	@ParameterizedTest
	@EnumSource
	void doesNotWaitForAMinority(Driver driver) {
		try (RedlockServers servers = RedlockServers.start(5)) {
			servers.proxy(0).stall();
			servers.proxy(3).hold();
			try (RedlockLockStore store = store(driver, servers); LockEngine engine = engine(store)) {
				long start = System.nanoTime();
				acquireAndRelease(engine);
				assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CONNECT_TIMEOUT);
			}
		}
	}

	private static RedlockLockStore store(Driver driver, RedlockServers servers) {
		return RedlockLockStore.create(driver.redlockNodes(servers.proxyPorts()), new RedlockSettings("lock:",
				COMMAND_TIMEOUT, CONNECT_TIMEOUT, COMMAND_TIMEOUT.dividedBy(3), 0.01, Duration.ofSeconds(30), true));
	}

	private static LockEngine engine(RedlockLockStore store) {
		EngineSettings d = EngineSettings.defaults();
		return new LockEngine(store,
				new EngineSettings(d.ttl(), d.waitTime(), d.maxHold(), COMMAND_TIMEOUT, Duration.ofSeconds(1), false),
				LockEvents.NOBODY);
	}

	private static void acquireAndRelease(LockEngine engine) {
		HeldLock lock = engine.template().acquire(REQUEST);
		assertThat(lock.isHeld()).isTrue();
		lock.close();
	}

}
