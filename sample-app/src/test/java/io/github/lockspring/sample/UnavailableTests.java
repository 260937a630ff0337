package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.stream.Stream;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.UseMainMethod;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The shop while the Redis server that it has started is away.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, useMainMethod = UseMainMethod.ALWAYS,
		properties = { "shop.report.cron=-", "shop.packing-time=0s", "distributed-lock.wait-time=200ms",
				"distributed-lock.command-timeout=1s" })
@DirtiesContext
class UnavailableTests {

	@LocalServerPort
	private int port;

	private Shop shop;

	@BeforeAll
	static void choosePort() {
		System.setProperty("lab.redis.port", String.valueOf(RedisServer.freePort()));
	}

	@AfterAll
	static void forgetPort() {
		System.clearProperty("lab.redis.port");
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

		HttpResponse<String> answer = sellWithoutRedis();
		assertThat(answer.body()).contains("\"outcome\":\"unavailable\"", "Nothing was changed");
		assertThat(this.shop.get("/api/instance")).contains("\"store\":\"down\"");

		await().atMost(Duration.ofSeconds(30))
			.until(() -> this.shop.post("/api/stock/tea/sell").join().statusCode() == 200);
		assertThat(this.shop.get("/api/instance")).contains("\"store\":\"up\"");
	}

	/** The server comes back by itself, without its data. */
	private HttpResponse<String> sellWithoutRedis() {
		HttpResponse<String> killed = this.shop.post("/api/experiments/redis/kill").join();
		assertThat(killed.statusCode()).as(killed.body()).isEqualTo(200);
		return await().until(() -> {
			HttpResponse<String> sold = this.shop.post("/api/stock/tea/sell").join();
			if (sold.statusCode() == 200) {
				// a busy machine has sold before Redis was gone, or when it was back
				this.shop.post("/api/experiments/redis/kill").join();
			}
			return sold;
		}, (answer) -> answer.statusCode() == 503);
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
			// again, if a busy machine ships the order before the signal arrives
			clickUntil(browser, "#try-redis-stop", "#try-result", "Signal: Redis was stopped for 5 s",
					"Shipping: unavailable (503). Locks are not available now");
			browser.awaitText("#trouble", "Locks are unavailable.");
			assertThat(browser.text("#store")).isEqualTo("down");
			clickUntil(browser, "#ship", "#order-result", "Shipping: parcel", "shipped by");
			browser.awaitText("#store", "up");
			await().until(() -> !browser.isShown("#trouble"));
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
