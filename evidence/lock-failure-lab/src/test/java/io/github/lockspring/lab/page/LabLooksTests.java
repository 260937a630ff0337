package io.github.lockspring.lab.page;

import java.io.IOException;
import java.util.List;
import java.util.Map;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
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

	private static final Logger logger = LoggerFactory.getLogger(LabLooksTests.class);

	private static Browser browser;

	private static LabStub lab;

	@BeforeAll
	static void open() throws IOException {
		browser = Browser.shared();
		lab = new LabStub(0, 0.2);
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
	@CsvSource({ "1280, light", "360, dark" })
	void axeFindsNothingSeriousInTheLab(int width, String scheme) throws IOException {
		openRun(width, scheme);
		browser.click("#events-box summary");
		browser.awaitShown("#events td");
		assertThat(browser.seriousViolations()).isEmpty();
	}

	/** Both widths and both colours have had all rules: here, what they have together. */
	@ParameterizedTest
	@CsvSource({ "1280, dark", "360, light" })
	void axeFindsNothingSeriousInColoursOfOneAndWidthOfTheOther(int width, String scheme) throws IOException {
		openRun(width, scheme);
		assertThat(browser.seriousViolations("color-contrast", "link-in-text-block", "target-size")).isEmpty();
	}

	private static void openRun(int width, String scheme) {
		browser.size(width, 900);
		browser.prefers(scheme);
		browser.open(lab.url() + "#run=r1&i=10");
		browser.awaitShown("#why dd");
		browser.awaitShown("#keys td");
	}

	@ParameterizedTest
	@CsvSource({ "1280, light", "360, dark" })
	void axeFindsNothingSeriousInTheShop(int width, String scheme) throws IOException {
		browser.size(width, 900);
		browser.prefers(scheme);
		browser.open(lab.url() + "shop.html");
		browser.awaitShown("#trouble");
		assertThat(browser.seriousViolations()).isEmpty();
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

	/**
	 * Times depend on what else the machine does, so this holds what they come from: the
	 * number of elements, and that replay draws none of them anew. The times are logged.
	 */
	@Test
	void twoThousandEventsAreDrawnWithFewElementsAndReplayedWithoutDrawingThem() {
		browser.open(lab.url() + "#run=" + lab.add(longRun(2000)));
		await().untilAsserted(() -> assertThat(browser.count(".tl-mark")).isPositive());
		int elements = browser.count("#timeline *");
		Map<?, ?> figures = (Map<?, ?>) browser.runAsync(
				"""
						const done = arguments[arguments.length - 1];
						const slider = document.getElementById('replay');
						const measure = async (work) => {
							const times = [];
							for (let k = 0; k < 20; k++) {
								const start = performance.now();
								work(k);
								await new Promise(requestAnimationFrame);
								const { port1, port2 } = new MessageChannel();
								await new Promise((next) => { port1.onmessage = next; port2.postMessage(0); });
								times.push(performance.now() - start);
							}
							return Math.round(times.sort((a, b) => a - b)[10]);
						};
						(async () => {
							const idle = await measure(() => {});
							let drawn = 0;
							const observer = new MutationObserver((changes) => drawn += changes.length);
							document.querySelectorAll('.tl-track').forEach((track) => observer.observe(track, { childList: true, subtree: true, attributes: true }));
							const replay = await measure((k) => { slider.value = slider.max * k / 20; slider.dispatchEvent(new Event('input')); });
							const drawnInReplay = drawn + observer.takeRecords().length;
							const zoom = await measure((k) => document.getElementById(k < 10 ? 'zoom-in' : 'zoom-out').click());
							const paint = Math.round(performance.getEntriesByName('first-contentful-paint')[0]?.startTime);
							done({ drawnInReplay, drawn, idle, replay, zoom, paint });
						})();
						""");
		logger.info("2,000 events, {} elements, milliseconds: {}, of work for a zoom: {}", elements, figures,
				zoomWork());
		assertThat(elements).isLessThan(900);
		assertThat(figures.get("drawnInReplay")).isEqualTo(0L);
		assertThat((Long) figures.get("drawn")).isPositive();
	}

	/** What the page computes for one step of a zoom, whatever else the machine does. */
	private static Map<String, Double> zoomWork() {
		Map<String, Double> before = browser.work();
		browser.runAsync("""
				const done = arguments[arguments.length - 1];
				(async () => {
					for (let k = 0; k < 40; k++) {
						document.getElementById(k % 20 < 10 ? 'zoom-in' : 'zoom-out').click();
						await new Promise(requestAnimationFrame);
						await new Promise(requestAnimationFrame);
					}
					done();
				})();
				""");
		Map<String, Double> after = browser.work();
		after.replaceAll((name, millis) -> Math.round((millis - before.get(name)) / 4) / 10.0);
		return after;
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

	/** Two shops in turns, with a command before and after each hold. */
	private static ObjectNode longRun(int events) {
		ObjectNode run = (ObjectNode) LabStub.read("set-nx-del-stopped.json");
		((ObjectNode) run.get("verdict")).putArray("overlaps");
		ArrayNode all = run.putArray("events");
		for (int i = 0; i < events; i++) {
			int hold = i / 5;
			String type = new String[] { "command", "acquired", "sold", "command", "released" }[i % 5];
			ObjectNode event = all.addObject()
				.put("i", i)
				.put("at", hold * 30 + i % 5 * 5.3)
				.put("lane", "shop-" + (1 + hold % 2))
				.put("type", type);
			switch (type) {
				case "command" -> event.put("command", "SET k v").put("answer", "OK").put("to", "redis-1");
				case "sold" -> event.put("seat", hold % 100 + 1);
				default -> event.put("hold", "h" + hold).put("token", hold).put("leaseMillis", 600);
			}
		}
		run.put("durationMillis", events * 6);
		return run;
	}

	private static String background() {
		return String.valueOf(browser.run("return getComputedStyle(document.body).backgroundColor"));
	}

}
