package io.github.lockspring.redis;

import java.util.List;

import io.github.lockspring.testsupport.redis.RedisServer;
import io.github.lockspring.testsupport.redis.RedisVersion;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

/**
 * The contract of stores on the oldest server that is supported. All other tests can run
 * on another one than 7.0: {@code -Dlockspring.redis-server=/path/to/valkey-server}.
 */
@Tag("contracts")
class RedisVersionsTests {

	/** One contract on one server over one driver. */
	abstract static class Contract extends AbstractRedisLockStoreTests {

		private final RedisVersion version;

		private final Driver driver;

		Contract(RedisVersion version, Driver driver) {
			this.version = version;
			this.driver = driver;
		}

		@Override
		List<RedisServer> servers() {
			return List.of(RedisServer.shared(this.version));
		}

		@Override
		Driver driver() {
			return this.driver;
		}

	}

	@Nested
	class On62OverLettuce extends Contract {

		On62OverLettuce() {
			super(RedisVersion.V6_2, Driver.LETTUCE);
		}

		@BeforeAll
		static void assumeThatItRuns() {
			RedisVersionsTests.assumeThatItRuns(RedisVersion.V6_2);
		}

		@Test
		void serverIsAsOldAsItShouldBe() {
			assertThat(RedisVersion.V6_2.banner()).contains("v=6.2.");
			assertThat((String) RedisServer.shared(RedisVersion.V6_2).command("INFO", "server"))
				.contains("redis_version:6.2.");
		}

	}

	@Nested
	class On62OverJedis extends Contract {

		On62OverJedis() {
			super(RedisVersion.V6_2, Driver.JEDIS);
		}

		@BeforeAll
		static void assumeThatItRuns() {
			RedisVersionsTests.assumeThatItRuns(RedisVersion.V6_2);
		}

	}

	// the binaries of 6.2 need libraries that a machine may not have
	private static void assumeThatItRuns(RedisVersion version) {
		assumeThat(version.banner()).as(version + " runs on this machine").isNotEmpty();
	}

}
