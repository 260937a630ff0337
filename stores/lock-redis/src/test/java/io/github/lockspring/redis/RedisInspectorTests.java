package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class RedisInspectorTests {

	private static final Duration TIMEOUT = Duration.ofMillis(200);

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final String INSTANCE = StoreFixture.instance(1);

	@ParameterizedTest
	@EnumSource
	void silentServerCostsACallerWhoAsksForNamesNoMoreThanTheTimeout(Driver driver) {
		InstanceInfo info = new InstanceInfo("billing", "billing-7c9f", 41);
		try (RedisServer server = RedisServer.start(); RedisLockStore store = driver.store(server.port(), LONG)) {
			StoreFixture.connected(store);
			LockStoreInspector inspector = store.inspector().orElseThrow();
			inspector.register(INSTANCE, info, LONG, LONG);
			assertThat(inspector.instances(List.of(INSTANCE), LONG)).containsEntry(INSTANCE, info);
			server.pause();
			long start = System.nanoTime();
			assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> inspector.instances(List.of(INSTANCE), TIMEOUT));
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONG.dividedBy(2));
			server.resume();
		}
	}

}
