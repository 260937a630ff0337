package io.github.lockspring.failure;

import io.github.lockspring.testsupport.redis.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A server runs out of memory and gives up a key.
 */
final class Eviction {

	private static final int MOST = 1000;

	private static final String FILLER = "x".repeat(20_000);

	private Eviction() {
	}

	/**
	 * Fills a server whose policy is {@code volatile-ttl} until a key is gone that has a
	 * shorter time to live than a day.
	 */
	static void of(String key, RedisServer server) {
		for (int i = 0; server.exists(key); i++) {
			assertThat(i).as("fillers until '%s' is evicted", key).isLessThan(MOST);
			server.command("SET", "filler:" + i, FILLER, "EX", "86400");
		}
	}

}
