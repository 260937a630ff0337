package io.github.lockspring.redis.redlock;

import io.github.lockspring.testsupport.redis.RedisVersion;
import org.junit.jupiter.api.BeforeAll;

import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The same on the oldest server that is supported.
 */
class RedlockScriptsOnOldServerTests extends RedlockScriptsTests {

	@Override
	RedisVersion version() {
		return RedisVersion.V6_2;
	}

	@BeforeAll
	static void assumeThatItRuns() {
		assumeThat(RedisVersion.V6_2.banner()).as("the binary runs on this machine").isNotEmpty();
	}

}
