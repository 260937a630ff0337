package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.time.Duration;

import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "distributed-lock.wait-time=200ms" })
class UnavailableTests {

	private static final RedisServer REDIS = RedisServer.start();

	@LocalServerPort
	private int port;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", REDIS::port);
	}

	@Test
	void saysThatLocksAreUnavailableAndWorksAgainWhenRedisIsBack() {
		Shop shop = new Shop(this.port);
		// the first connection of a JVM may take longer than the wait for the lock
		await().atMost(Duration.ofSeconds(30)).until(() -> shop.post("/api/stock/tea/sell").join().statusCode() == 200);
		assertThat(shop.get("/api/instance")).contains("\"store\":\"up\"");

		REDIS.kill();
		HttpResponse<String> answer = shop.post("/api/stock/tea/sell").join();
		assertThat(answer.statusCode()).isEqualTo(503);
		assertThat(answer.body()).contains("\"outcome\":\"unavailable\"").contains("stock:tea");
		assertThat(shop.get("/api/instance")).contains("\"store\":\"down\"");

		REDIS.restart();
		await().atMost(Duration.ofSeconds(30)).until(() -> shop.post("/api/stock/tea/sell").join().statusCode() == 200);
		assertThat(shop.get("/api/instance")).contains("\"store\":\"up\"");
	}

}
