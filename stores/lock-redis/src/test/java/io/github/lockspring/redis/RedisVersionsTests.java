package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedisVersion;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The contract of stores on the oldest server that is supported. All other tests can run
 * on another one than 7.0: {@code -Dlockspring.redis-server=/path/to/valkey-server}.
 */
@Tag("contracts")
@ParameterizedClass
@EnumSource
class RedisVersionsTests extends AbstractRedisLockStoreTests {

	// the binaries of 6.2 need libraries that a machine may not have
	@BeforeAll
	static void assumeThatItRuns() {
		assumeThat(RedisVersion.V6_2.banner()).as("6.2 runs on this machine").isNotEmpty();
	}

	@Override
	List<RedisServer> servers() {
		return List.of(RedisServer.shared(RedisVersion.V6_2));
	}

	@Test
	void serverIsAsOldAsItShouldBe() {
		assertThat(servers().get(0).version()).startsWith("6.2.");
	}

}
