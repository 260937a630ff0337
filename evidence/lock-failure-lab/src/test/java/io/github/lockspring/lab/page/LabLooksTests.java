package io.github.lockspring.lab.page;

import java.io.IOException;
import java.util.List;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * How the pages look: in light and dark, on a telephone, to a screen reader, and with
 * many events.
 */
@RequiresBrowser
class LabLooksTests {

	private static Browser browser;

	private static LabStub lab;

	@BeforeAll
	static void open() throws IOException {
		browser = Browser.shared();
		lab = new LabStub(0);
		lab.add("set-nx-del-stopped.json");
	}

	@AfterAll
	static void close() {
		lab.close();
	}

	@BeforeEach
	void reset() {
		browser.size(1280, 900);
		browser.prefers("light");
	}

	@ParameterizedTest
	@CsvSource({ "#run=r1&i=10, #keys td, 1280, light", "#run=r1&i=10, #keys td, 360, dark",
			"shop.html, #trouble, 1280, light", "shop.html, #trouble, 360, dark" })
	void axeFindsNothingSerious(String page, String shown, int width, String scheme) throws IOException {
		openPage(page, shown, width, scheme);
		assertThat(browser.seriousViolations()).isEmpty();
	}

	/** Both widths and both colours have had all rules: here, what they have together. */
	@ParameterizedTest
	@CsvSource({ "1280, dark", "360, light" })
	void axeFindsNothingSeriousInColoursOfOneAndWidthOfTheOther(int width, String scheme) throws IOException {
		openPage("#run=r1&i=10", "#keys td", width, scheme);
		assertThat(browser.seriousViolations("color-contrast", "link-in-text-block", "target-size")).isEmpty();
	}

	private static void openPage(String page, String shown, int width, String scheme) {
		browser.size(width, 900);
		browser.prefers(scheme);
		browser.open(lab.url() + page);
		browser.awaitShown(shown);
		browser.run("document.querySelectorAll('details').forEach((one) => one.open = true)");
	}

	@Test
	void coloursFollowTheSystemUntilTheyAreChosen() {
		browser.prefers("dark");
		browser.open(lab.url());
		assertThat(browser.text("#theme")).endsWith("Auto");
		assertThat(background()).isEqualTo("rgb(14, 18, 23)");
		browser.click("#theme");
		assertThat(browser.text("#theme")).endsWith("Light");
		assertThat(background()).isEqualTo("rgb(244, 246, 249)");
		browser.open(lab.url() + "shop.html");
		assertThat(background()).isEqualTo("rgb(244, 246, 249)");
		browser.click("#theme");
		browser.prefers("light");
		assertThat(background()).isEqualTo("rgb(14, 18, 23)");
		browser.click("#theme");
		assertThat(background()).isEqualTo("rgb(244, 246, 249)");
	}

	@ParameterizedTest
	@CsvSource({ "'#run=r1&i=70'", "shop.html" })
	void nothingIsWiderThanATelephone(String page) {
		browser.size(360, 740);
		browser.open(lab.url() + page);
		browser.awaitShown(page.startsWith("#") ? ".tl-both" : "#trouble");
		assertThat((Long) browser.run("return document.documentElement.scrollWidth")).isLessThanOrEqualTo(360L);
	}

	@Test
	void everyTextThatCanBeTranslatedHasAKeyOfItsOwn() {
		browser.open(lab.url());
		browser.awaitShown("#matrix button");
		List<?> twice = (List<?>) browser.run("""
				const keys = [...document.querySelectorAll('[data-t]')].map((one) => one.dataset.t);
				return keys.filter((key, k) => keys.indexOf(key) !== k);
				""");
		assertThat(twice).isEmpty();
	}

	@Test
	void twoThousandEventsAreDrawnWithFewElementsAndReplayedWithoutDrawingThem() {
		browser.open(lab.url() + "#run=" + lab.add(longRun(2000)));
		await().untilAsserted(() -> assertThat(browser.count(".tl-mark")).isPositive());
		assertThat(browser.count("#timeline *")).isLessThan(900);
		browser
			.run("""
					window.drawn = [];
					const observer = new MutationObserver((changes) => window.drawn.push(...changes));
					document.querySelectorAll('.tl-track').forEach((track) => observer.observe(track, { childList: true, subtree: true, attributes: true }));
					""");
		assertThat(drawnAfter("""
				const slider = document.getElementById('replay');
				slider.value = slider.max / 2;
				slider.dispatchEvent(new Event('input'));
				""")).isZero();
		assertThat(drawnAfter("document.getElementById('zoom-in').click();")).isPositive();
	}

	private static Long drawnAfter(String script) {
		return (Long) browser.runAsync("""
				const done = arguments[arguments.length - 1];
				window.drawn = [];
				%s
				requestAnimationFrame(() => requestAnimationFrame(() => done(window.drawn.length)));
				""".formatted(script));
	}

	@Test
	void firstPaintNeedsLittleAndNothingFromElsewhere() {
		browser.open(lab.url());
		browser.awaitShown("#matrix button");
		List<?> foreign = (List<?>) browser
			.run("""
					return performance.getEntriesByType('resource').map((one) => one.name).filter((name) => !name.startsWith(location.origin));
					""");
		assertThat(foreign).isEmpty();
		// what stands in the way of the first paint: styles, and the script that chooses
		// the colours
		Object blocking = browser.run("""
				return performance.getEntriesByType('resource').filter((one) => one.renderBlockingStatus === 'blocking')
					.map((one) => one.name.split('/').pop()).sort().join(' ');
				""");
		assertThat(blocking).isEqualTo("base.css lab.css theme.js");
		long bytes = (Long) browser.run("""
				return performance.getEntriesByType('resource').filter((one) => /\\.(css|js)$/.test(one.name))
					.reduce((sum, one) => sum + one.decodedBodySize, 0);
				""");
		assertThat(bytes).isBetween(20_000L, 120_000L);
	}

	/** The same again and again, one after the other. */
	private static ObjectNode longRun(int events) {
		ObjectNode run = (ObjectNode) LabStub.read("set-nx-del-stopped.json");
		JsonNode once = run.get("events");
		ArrayNode all = run.putArray("events");
		for (int i = 0; i < events; i++) {
			ObjectNode event = (ObjectNode) once.get(i % once.size()).deepCopy();
			int round = i / once.size();
			event.put("i", i)
				.put("at", event.get("at").doubleValue() + round * run.get("durationMillis").doubleValue());
			if (event.has("hold")) {
				event.put("hold", event.get("hold").stringValue() + "-" + round);
			}
			all.add(event);
		}
		run.put("durationMillis", run.get("durationMillis").doubleValue() * (1 + events / once.size()));
		return run;
	}

	private static String background() {
		return String.valueOf(browser.run("return getComputedStyle(document.body).backgroundColor"));
	}

}
