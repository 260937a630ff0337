package io.github.lockspring.sample;

import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The experiments that the page offers.
 */
@RequiresBrowser
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT, properties = "shop.report.cron=-")
@AutoConfigureDistributedLocks
class ExperimentButtonsTests {

	@LocalServerPort
	private int port;

	@Test
	void shopOffersTheExperimentsThatItsInstanceCanDoAndSendsTheToken() {
		Browser browser = Browser.shared();
		browser.open("http://localhost:" + this.port + "/shop.html");
		await().untilAsserted(() -> assertThat(browser.attribute("#try-redis-stop", "title"))
			.contains("has not started a redis-server"));
		assertThat(browser.count("#try:enabled")).isOne();
		assertThat(browser.count("#try button:enabled")).isZero();
		assertThat(browser.runAsync("""
				const done = arguments[arguments.length - 1];
				tokens[""] = Promise.resolve("of an instance that was restarted");
				signal("redis/stop?seconds=1").then((answer) => done(answer.status + " " + answer.body.detail));
				""").toString()).startsWith("409 This instance has not started the Redis server");
	}

}
