package io.github.lockspring.lab.page;

import java.time.Duration;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The page over a lab: real processes that fail, seen in a browser. What each cell comes
 * to, {@code FailureLabPage} runs; here it is whether the page shows it.
 */
@RequiresBrowser
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@DirtiesContext
class LabInBrowserTests {

	private static Browser browser;

	@LocalServerPort
	private int port;

	@BeforeAll
	static void openBrowser() {
		browser = Browser.shared();
		// each run starts processes and servers
		Awaitility.setDefaultTimeout(Duration.ofSeconds(150));
	}

	@BeforeEach
	void openPage() {
		browser.open("http://localhost:" + this.port + "/");
		browser.awaitShown("#matrix button");
		// before that, it opens the latest run, and would choose its recipe again
		browser.awaitText("#live", "Live");
	}

	@Test
	void f09StoppedShopSellsASeatTwiceAndThePageShowsWhenAndWhy() {
		run("set-nx-del", "stopped");
		await().untilAsserted(() -> assertThat(browser.count(".tl-bar")).isPositive());
		browser.awaitText("#verdict-text", "Sold twice");
		assertThat(browser.texts(".tl-fault")).contains("stopped", "continues");
		assertThat(browser.count("#seats .twice")).isPositive();
		assertThat(browser.count(".tl-both")).isPositive();
		assertThat(browser.count(".tl-bar .over")).isPositive();
		browser.awaitText("#why", "Failure F09");
		assertThat(browser.text("#why")).contains("the protected resource refuses an older one");
		assertThat(browser.text("#keys")).contains("redis-1");
		assertThat(browser.text("#code")).contains("class SetNxThenDel");
		browser.awaitText("#matrix button.chosen", "Sold twice");
		browser.click("#why .clash");
		browser.awaitText("#moment", "acquires the lock");
		String moment = browser.url();
		browser.open(moment);
		browser.awaitText("#moment", "acquires the lock");
		assertThat(browser.url()).isEqualTo(moment);
	}

	/** Both clicks in one script: on a busy machine a run may be over between two. */
	@Test
	void runCanBeCancelled() {
		browser.choose("#recipe", "setnx-expire-del");
		browser.choose("#fault", "killed");
		browser.run("document.getElementById('run').click(); document.getElementById('cancel').click()");
		browser.awaitText("#verdict-text", "Cancelled");
		browser.awaitShown("#run");
	}

	/** The first two cells; the third one is cancelled. */
	@Test
	void matrixRunsWhatCanHappenToOneRecipe() {
		browser.choose("#recipe", "replica");
		browser.click("#matrix-row");
		String cells = "#matrix tbody tr:nth-child(8) button";
		browser.awaitText("#matrix-state", "of " + browser.count(cells));
		browser.awaitText("#run-title", "One master with a replica");
		await().untilAsserted(() -> assertThat(browser.count(cells + ":not(.unknown)")).isGreaterThanOrEqualTo(2));
		browser.click("#matrix-cancel");
		browser.awaitText("#matrix-state", "cells have run");
		assertThat(browser.count(cells + ".failed")).isZero();
		// which verdict: a machine that is too busy for a lease of a second has its own
		assertThat(browser.texts(cells + ":not(.unknown)").subList(0, 2)).doesNotContain("Cancelled");
		browser.awaitText("#verdict-text", "Cancelled");
	}

	private void run(String recipe, String fault) {
		browser.choose("#recipe", recipe);
		browser.choose("#fault", fault);
		browser.click("#run");
		await().untilAsserted(() -> assertThat(browser.url()).contains("#run=r"));
	}

}
