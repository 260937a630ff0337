package io.github.lockspring.sample;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.Stream;

import io.github.lockspring.sample.lab.page.Browser;
import io.github.lockspring.sample.lab.page.RequiresBrowser;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The shop while the Redis server that it has started is away.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "shop.packing-time=0s", "distributed-lock.wait-time=200ms",
				"distributed-lock.command-timeout=1s" })
@DirtiesContext
class UnavailableTests {

	private static final int REDIS = RedisServer.freePort();

	@LocalServerPort
	private int port;

	private Shop shop;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", () -> REDIS);
	}

	@BeforeAll
	static void startRedis() {
		ExperimentsTests.startRedis(REDIS);
	}

	@AfterAll
	static void stopRedis() throws IOException {
		EmbeddedRedis.close();
	}

	@BeforeEach
	void open() {
		this.shop = new Shop(this.port);
		// the first connection of a JVM may take longer than the wait for the lock
		await().atMost(Duration.ofSeconds(30))
			.until(() -> this.shop.post("/api/stock/tea/sell").join().statusCode() == 200);
	}

	@Test
	void saysThatLocksAreUnavailableAndWorksAgainWhenRedisIsBack() {
		assertThat(this.shop.get("/api/instance")).contains("\"store\":\"up\"");

		EmbeddedRedis.process().orElseThrow().destroyForcibly();
		await().until(() -> !EmbeddedRedis.answersPing(REDIS));
		HttpResponse<String> answer = this.shop.post("/api/stock/tea/sell").join();
		assertThat(answer.statusCode()).isEqualTo(503);
		assertThat(answer.body()).contains("\"outcome\":\"unavailable\"", "nothing was changed");
		assertThat(this.shop.get("/api/instance")).contains("\"store\":\"down\"");

		EmbeddedRedis.startAgain();
		await().atMost(Duration.ofSeconds(30))
			.until(() -> this.shop.post("/api/stock/tea/sell").join().statusCode() == 200);
		assertThat(this.shop.get("/api/instance")).contains("\"store\":\"up\"");
	}

	/** The same by a button of the page. */
	@Nested
	@RequiresBrowser
	class InBrowser {

		@Test
		void buttonStopsRedisAndThePageShowsThatItIsAwayAndBack() {
			Browser browser = Browser.shared();
			browser.open("http://localhost:" + UnavailableTests.this.port + "/shop.html");
			browser.awaitText("#store", "up");
			long stopped = EmbeddedRedis.process().orElseThrow().pid();
			// again, if a busy machine ships the order before the signal arrives
			clickUntil(browser, "#try-redis-stop", "#try-result", "Signal: Redis is stopped for 5 s",
					"Shipping: unavailable (503). Nothing can be locked now");
			browser.awaitText("#trouble", "Locks are unavailable.");
			assertThat(browser.text("#store")).isEqualTo("down");
			clickUntil(browser, "#ship", "#order-result", "Shipping: parcel", "shipped by");
			browser.awaitText("#store", "up");
			await().until(() -> !browser.isShown("#trouble"));
			assertThat(EmbeddedRedis.process().orElseThrow().pid()).isEqualTo(stopped);
		}

		private static void clickUntil(Browser browser, String button, String result, String... words) {
			await().pollInterval(Duration.ofMillis(200)).until(() -> {
				if (Stream.of(words).allMatch(browser.text(result)::contains)) {
					return true;
				}
				if (browser.count(button + ":enabled") > 0) {
					browser.click(button);
				}
				return false;
			});
		}

	}

}
