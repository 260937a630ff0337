package io.github.lockspring.redis;

import java.time.Duration;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.store.AbstractConnectionFailureTests;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What happens to locks when a connection fails, with each driver.
 */
@ParameterizedClass
@EnumSource
class RedisConnectionFailureTests extends AbstractConnectionFailureTests {

	@Parameter
	Driver driver;

	@Override
	protected int port() {
		return RedisServer.shared().port();
	}

	@Override
	protected LockStore store(int port, boolean lasting) {
		return this.driver.store(port, Duration.ofSeconds(2));
	}

	@Override
	protected boolean needsMessages() {
		return true;
	}

}
