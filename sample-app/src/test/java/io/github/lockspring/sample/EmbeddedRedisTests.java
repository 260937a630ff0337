package io.github.lockspring.sample;

import java.io.IOException;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.bootstrap.DefaultBootstrapContext;
import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.mock.env.MockEnvironment;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

class EmbeddedRedisTests {

	@Test
	void usesTheServerThatAnotherInstanceHasStarted() throws IOException {
		int port = RedisServer.freePort();
		Process redis = EmbeddedRedis.start(port);
		MockEnvironment environment = prepared("shop.redis.port", String.valueOf(port));
		assertThat(environment.getProperty("spring.data.redis.host")).isEqualTo("127.0.0.1");
		assertThat(environment.getProperty("spring.data.redis.port", Integer.class)).isEqualTo(port);
		assertThat(environment.getProperty("shop.redis.server")).contains("started by another instance");
		redis.getOutputStream().close();
		await().until(() -> !EmbeddedRedis.answersPing(port));
	}

	@Test
	void startsNoServerWhereRedisUrlIsSet() {
		MockEnvironment environment = prepared("REDIS_URL", "redis://redis.example:6379");
		assertThat(environment.getProperty("spring.data.redis.url")).isEqualTo("redis://redis.example:6379");
		assertThat(environment.getProperty("spring.data.redis.host")).isNull();
	}

	@Test
	void startsNoServerWhereAConnectionIsConfigured() {
		assertThat(prepared("spring.data.redis.sentinel.master", "shop").getProperty("shop.redis.server"))
			.contains("spring.data.redis");
		assertThat(prepared("spring.data.redis.cluster.nodes", "127.0.0.1:7000").getProperty("shop.redis.server"))
			.contains("spring.data.redis");
		assertThat(prepared("spring.data.redis.host", "redis.example").getProperty("shop.redis.server"))
			.contains("spring.data.redis");
	}

	private static MockEnvironment prepared(String property, String value) {
		MockEnvironment environment = new MockEnvironment().withProperty(property, value)
			.withProperty("spring.data.redis.timeout", "2s");
		new EmbeddedRedis().onApplicationEvent(new ApplicationEnvironmentPreparedEvent(new DefaultBootstrapContext(),
				new SpringApplication(), new String[0], environment));
		return environment;
	}

}
