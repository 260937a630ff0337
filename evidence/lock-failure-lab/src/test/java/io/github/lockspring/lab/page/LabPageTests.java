package io.github.lockspring.lab.page;

import java.io.IOException;
import java.util.List;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.Keys;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The page of the lab over hand-written runs.
 */
@RequiresBrowser
class LabPageTests {

	private static final String SOLD_TWICE = "set-nx-del-stopped.json";

	private static final String CELL = "#matrix tbody tr:nth-child(%d) td:nth-of-type(%d) button";

	private static Browser browser;

	private LabStub lab;

	@BeforeAll
	static void openBrowser() {
		browser = Browser.shared();
	}

	@BeforeEach
	void openLab() throws IOException {
		this.lab = new LabStub(0);
	}

	@AfterEach
	void closeLab() {
		assertThat(browser.errors()).filteredOn((error) -> !error.contains("Failed to load resource")).isEmpty();
		this.lab.close();
	}

	@Test
	void saysWhatItIsBeforeAnythingHasRun() {
		browser.open(this.lab.url());
		browser.awaitText("#verdict", "Nothing has run yet");
		assertThat(browser.text(".intro")).contains("real processes and servers");
		assertThat(browser.text("#theory-expects")).contains("Sold twice");
		assertThat(browser.isShown(".timeline .nothing")).isTrue();
		assertThat(browser.isShown("#timeline")).isFalse();
		browser.awaitText("#live", "Live");
		assertThat(browser.attribute(".top nav a:last-child", "href")).isEqualTo("shop.html");
	}

	@Test
	void runsTheChosenPairAndShowsItsVerdict() {
		browser.open(this.lab.url());
		browser.awaitShown("#matrix button");
		browser.choose("#recipe", "setnx-expire");
		browser.choose("#fault", "killed-between");
		assertThat(browser.text("#theory")).contains("no expiry");
		assertThat(browser.text("#code")).contains("class DelWithoutLooking");
		this.lab.hold();
		browser.click("#run");
		browser.awaitText("#verdict-text", "Running");
		this.lab.release();
		browser.awaitText("#verdict-text", "Stuck for 3.1 s");
		assertThat(browser.text("#verdict-expected")).contains("as expected");
		assertThat(browser.text("#run-title")).contains("SETNX").contains("Killed between");
		assertThat(browser.texts(".tl-fault")).containsExactly("killed");
		assertThat(browser.texts(".tl-bar .dead")).containsExactly("the lock is still set");
		assertThat(browser.text("#sale-sold")).isEqualTo("4");
		browser.awaitText(CELL.formatted(1, 1), "Stuck 3.1 s");
		assertThat(browser.url()).endsWith("#run=r1");
	}

	@Test
	void timelineShowsHoldsEndOfLeaseFaultsAndWhereTwoHoldTheLock() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitShown(".tl-both");
		assertThat(browser.texts(".tl-name strong")).containsExactly("Shop 1", "Shop 2", "redis-1 :6391", "Database");
		assertThat(browser.texts(".tl-name span")).contains("pid 4711");
		assertThat(browser.count("[data-lane=shop-1] .tl-bar")).isEqualTo(9);
		assertThat(browser.texts("[data-lane=shop-1] .tl-bar b")).contains("token 10", "1", "3");
		assertThat(browser.count("[data-hold=h10] .over")).isOne();
		assertThat(browser.count("[data-hold=h9] .over")).isZero();
		assertThat(browser.texts("[data-lane=shop-1] .tl-fault")).containsExactly("stopped", "continues");
		assertThat(browser.count("[data-lane=shop-1] .tl-band.stopped")).isOne();
		assertThat(browser.count(".tl-both")).isEqualTo(12);
		assertThat(browser.text("#timeline")).contains("2 holders");
		assertThat(browser.count("[data-lane=redis-1] .tl-mark.command")).isGreaterThan(10);
		assertThat(browser.count("#seats .sold")).isEqualTo(20);
		assertThat(browser.texts("#seats .twice")).containsExactly("2");
		assertThat(browser.attribute("#seats", "aria-label")).contains("22 sales of 100 seats")
			.contains("sold twice: 1");
	}

	@Test
	void pointingAtAMarkTellsTheCommandWithItsAnswer() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitShown(".tl-mark.command");
		browser.pointAt("[data-lane=redis-1] .tl-mark.command");
		browser.awaitText(".tl-tip", "SET lock:sale locked NX PX 600");
		assertThat(browser.text(".tl-tip")).contains("→ OK");
		browser.pointAt(".tl-axis");
		await().until(() -> !browser.isShown(".tl-tip"));
		// a finger is wider than a mark
		browser.pointBeside("[data-lane=redis-1] .tl-mark.command", 0, -7);
		browser.awaitText(".tl-tip", "SET lock:sale locked NX PX 600");
		browser.pointAt("[data-hold=h10]");
		browser.awaitText(".tl-tip", "Its lease is over from");
		browser.click("[data-hold=h10]");
		browser.awaitText("#moment", "Shop 1 acquires the lock");
		assertThat(browser.text("#moment")).contains("fencing token 10").contains("took 0.7 ms");
	}

	@Test
	void keysMoveThroughTheEventsAndZoom() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitShown(".tl-bar");
		browser.type("#timeline", Keys.HOME);
		browser.awaitText("#moment", "Shop 2 asks for the lock");
		browser.press(Keys.ARROW_RIGHT);
		browser.awaitText("#moment", "Shop 1 sends a command");
		browser.press(Keys.ARROW_DOWN);
		browser.awaitText("#moment", "Shop 1 acquires the lock");
		int bars = browser.count(".tl-bar");
		browser.press(Keys.ADD, Keys.ADD, Keys.ADD);
		await().untilAsserted(() -> assertThat(browser.count(".tl-bar")).isLessThan(bars));
		browser.press(Keys.ESCAPE);
		browser.awaitText("#moment", "Point at a mark");
		browser.click("#zoom-fit");
		await().untilAsserted(() -> assertThat(browser.count(".tl-bar")).isEqualTo(bars));
	}

	@Test
	void linkLeadsToAMoment() {
		String run = this.lab.add(SOLD_TWICE);
		int stopped = (int) LabStub.read(SOLD_TWICE)
			.get("events")
			.valueStream()
			.takeWhile((event) -> !event.get("type").stringValue().equals("stopped"))
			.count();
		browser.open(this.lab.url() + "#run=" + run + "&i=" + stopped);
		browser.awaitText("#moment", "Shop 1 is stopped (SIGSTOP)");
		assertThat(browser.attribute("#moment a", "href")).isEqualTo("#run=" + run + "&i=" + stopped);
		assertThat(browser.count(".tl-fault.stopped.selected")).isOne();
		browser.open(this.lab.url() + "#run=" + run + "&i=9999");
		browser.awaitText("#trouble", "Run r1 has no moment 9999");
	}

	@Test
	void replayShowsTheRunUpToAMoment() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitShown(".tl-bar");
		browser.run("""
				const slider = document.getElementById('replay');
				slider.value = 500;
				slider.dispatchEvent(new Event('input'));
				""");
		browser.awaitText("#sale-sold", "5");
		assertThat(browser.count("#seats .sold")).isEqualTo(5);
		assertThat(browser.count("#seats .twice")).isZero();
		assertThat(browser.attribute("#replay", "aria-valuetext")).startsWith("0.50 s of 2.8");
		assertThat(browser.isShown(".tl-cover")).isTrue();
		// this JVM may look too late
		browser.run("""
				window.seen = [];
				new MutationObserver(() => window.seen.push(document.querySelectorAll('#seats .sold').length))
					.observe(document.getElementById('seats'), { subtree: true, childList: true, attributes: true });
				""");
		browser.choose("#speed", "0.25");
		browser.click("#play");
		await().until(() -> Boolean.TRUE.equals(browser.run("return window.seen.some((sold) => sold > 5)")));
		browser.choose("#speed", "1");
		browser.awaitText("#sale-soldTwice", "1");
		await().untilAsserted(() -> assertThat(browser.isShown(".tl-cover")).isFalse());
		assertThat(browser.run("return window.seen.some((sold) => sold > 5 && sold < 20)")).isEqualTo(true);
	}

	@Test
	void allEventsStandInATableToo() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitShown(".tl-bar");
		browser.click("#events-box summary");
		int events = LabStub.read(SOLD_TWICE).get("events").size();
		await().untilAsserted(() -> assertThat(browser.count("#events tbody tr")).isEqualTo(events));
		browser.click("#events tbody tr:nth-child(2) button");
		browser.awaitText("#moment", "Shop 1 sends a command");
	}

	@Test
	void cellOpensItsRunOrRunsIt() {
		this.lab.add(SOLD_TWICE);
		browser.open(this.lab.url());
		browser.awaitText(CELL.formatted(3, 2), "Sold twice");
		assertThat(browser.attribute(CELL.formatted(1, 1), "aria-label")).contains("not run yet; theory expects Stuck");
		assertThat(browser.attribute("#matrix td.none", "title")).isNotEmpty();
		browser.type(CELL.formatted(1, 1), Keys.ARROW_DOWN, Keys.NULL);
		browser.press(Keys.ARROW_DOWN, Keys.ARROW_RIGHT, Keys.ENTER);
		browser.awaitText("#run-title", "without looking");
		assertThat(browser.url()).endsWith("#run=r1");
		browser.click(CELL.formatted(9, 4));
		browser.awaitText("#verdict-text", "Safe");
		browser.awaitText("#run-number", "r2");
		assertThat(browser.text("#verdict")).contains("no seat was sold twice");
	}

	@Test
	void secondRunIsRefusedWithAWayOut() {
		this.lab.hold();
		browser.open(this.lab.url());
		browser.awaitShown("#matrix button");
		browser.click("#run");
		browser.awaitText("#verdict-text", "Running");
		browser.click(CELL.formatted(1, 1));
		browser.awaitText("#trouble", "Another run is going on.");
		assertThat(browser.texts("#trouble button"))
			.isEqualTo(List.of("Watch it", "Cancel it and run this one", "Close"));
		browser.click("#trouble button:nth-child(2)");
		browser.awaitText("#run-number", "r2");
		browser.awaitText("#run-title", "SETNX, then EXPIRE");
		browser.click("#cancel");
		browser.awaitText("#verdict-text", "Cancelled");
	}

	/** Among them those of the verdict, of the recipe's source and of the other page. */
	@Test
	void everyLinkOfThePageLeadsSomewhere() {
		browser.open(this.lab.url() + "#run=" + this.lab.add(SOLD_TWICE));
		browser.awaitText("#why", "Failure F09");
		Object dead = browser.runAsync("""
				const done = arguments[arguments.length - 1];
				const links = [...new Set([...document.querySelectorAll('a[href]')].map((one) => one.href)
					.filter((url) => url.startsWith(location.origin)))];
				Promise.all(links.map((url) => fetch(url).then((answer) => answer.ok ? [] : [url])))
					.then((all) => done([links.length > 3 ? 'many' : 'few', ...all.flat()].join(' ')));
				""");
		assertThat(dead).isEqualTo("many");
	}

	@Test
	void faultThatCannotHappenToARecipeCannotBeChosen() {
		browser.open(this.lab.url());
		browser.awaitShown("#matrix button");
		browser.choose("#recipe", "version-column");
		assertThat(browser.count("#fault option[value=promoted]:disabled")).isOne();
		assertThat(browser.count("#fault option[value=stopped]:disabled")).isZero();
	}

}
