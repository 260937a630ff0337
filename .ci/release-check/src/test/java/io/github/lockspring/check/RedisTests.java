package io.github.lockspring.check;

import io.github.lockspring.testsupport.redis.RedisServer;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

/**
 * With locks in Redis, patient where a machine is slow.
 */
@SpringBootTest(properties = { "distributed-lock.store=redis", "distributed-lock.command-timeout=20s" })
class RedisTests extends AbstractStoreTests {

	@DynamicPropertySource
	static void connectToServer(DynamicPropertyRegistry properties) {
		properties.add("spring.data.redis.host", () -> RedisServer.shared().host());
		properties.add("spring.data.redis.port", () -> RedisServer.shared().port());
	}

}
