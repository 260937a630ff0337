package io.github.lockspring.lab.page;

import java.io.IOException;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page while the sample goes and comes back, and when two browsers look at it.
 */
@RequiresBrowser
class LabConnectionTests {

	private static Browser browser;

	private LabStub lab;

	@BeforeAll
	static void openBrowser() {
		browser = Browser.shared();
	}

	@BeforeEach
	void openLab() throws IOException {
		// none that the system gives to a client while the lab is away
		this.lab = new LabStub(RedisServer.freePort());
	}

	@AfterEach
	void closeLab() {
		this.lab.close();
	}

	@Test
	void connectsAgainWhenTheSampleIsBackAndForgetsItsRuns() throws IOException {
		this.lab.hold();
		this.lab.add("set-nx-del-stopped.json");
		browser.open(this.lab.url());
		browser.awaitText("#matrix-state", "1 of ");
		browser.click("#run");
		browser.awaitText("#run-number", "r2");
		this.lab.close();
		browser.awaitText("#live", "Reconnecting");
		assertThat(browser.isShown("#timeline")).isTrue();
		this.lab = new LabStub(this.lab.port());
		browser.awaitText("#live", "Live");
		browser.awaitText("#trouble", "Run r2 is not there any more");
		browser.awaitText("#matrix-state", "0 of ");
		// with the token of the sample that has gone, until the page has the new one
		browser.click("#run");
		browser.awaitText("#verdict-text", "Sold twice");
		assertThat(browser.text("#run-number")).isEqualTo("r1");
	}

	@Test
	void saysThatTheSampleDoesNotRespondWhenItIsGone() {
		browser.open(this.lab.url());
		browser.awaitShown("#matrix button");
		this.lab.close();
		browser.click("#run");
		browser.awaitText("#trouble", "The sample does not respond");
		assertThat(browser.attribute("#trouble", "role")).isEqualTo("alert");
	}

	@Test
	void twoBrowsersSeeTheSameRuns() {
		try (Browser other = new Browser()) {
			browser.open(this.lab.url());
			other.open(this.lab.url());
			browser.awaitShown("#matrix button");
			other.awaitShown("#matrix button");
			this.lab.hold();
			browser.click("#run");
			other.awaitText("#verdict-text", "Running");
			other.click("#cancel");
			browser.awaitText("#verdict-text", "Cancelled");
			this.lab.release();
			other.awaitText("#verdict-text", "Cancelled");
			other.click("#run");
			other.awaitText("#verdict-text", "Sold twice");
			browser.awaitText("#matrix button.chosen", "Sold twice");
			assertThat(browser.text("#run-number")).isEqualTo("r1");
		}
	}

}
