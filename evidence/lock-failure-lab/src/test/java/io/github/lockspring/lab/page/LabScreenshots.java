package io.github.lockspring.lab.page;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.testsupport.browser.Browser;
import io.github.lockspring.testsupport.browser.RequiresBrowser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.awaitility.Awaitility.await;

/**
 * Takes the screenshots of README and docs from a sample that runs. Runs what has not run
 * yet, which takes about fifteen minutes. README.md of the module has the command.
 */
@RequiresBrowser
@EnabledIfSystemProperty(named = "lab.screenshots", matches = "http://.*",
		disabledReason = "-Dlab.screenshots names a sample that runs, such as http://localhost:8080")
class LabScreenshots {

	private static final Path IMAGES = Path.of("..", "..", "docs", "images");

	private final String url = System.getProperty("lab.screenshots").replaceAll("/$", "") + "/";

	@Test
	@Timeout(value = 1, unit = TimeUnit.HOURS)
	void takesThem() throws IOException {
		try (Browser browser = new Browser()) {
			browser.size(1280, 960);
			browser.prefers("light");
			browser.open(this.url);
			browser.awaitText("#matrix-state", "of");
			if (!allRan(browser)) {
				browser.click("#matrix-run");
				await().atMost(Duration.ofMinutes(50)).pollInterval(Duration.ofSeconds(5)).until(() -> allRan(browser));
			}
			openRun(browser, "set-nx-del", "stopped");
			browser.size(1280, 1000);
			browser.run("scrollTo(0, 0)");
			save(browser, "lab-run");
			browser.prefers("dark");
			browser.click("#why .clash");
			browser.run("document.querySelector('.timeline').scrollIntoView()");
			browser.size(1280, 900);
			save(browser, "lab-timeline-dark");
			browser.prefers("light");
			browser.size(1440, 1060);
			browser.run("document.getElementById('h-matrix').closest('section').scrollIntoView()");
			save(browser, "lab-matrix");
			browser.size(390, 844);
			browser.run("document.getElementById('h-run').scrollIntoView()");
			save(browser, "lab-narrow");
		}
	}

	private static boolean allRan(Browser browser) {
		return browser.isShown("#matrix-run") && browser.count("#matrix button.unknown") == 0;
	}

	private static void openRun(Browser browser, String recipe, String fault) {
		String run = (String) browser.runAsync("""
				const done = arguments[arguments.length - 1];
				fetch('lab/api/matrix').then((answer) => answer.json()).then((matrix) => done(matrix.cells
					.find((cell) => cell.recipe === arguments[0] && cell.fault === arguments[1]).run));
				""", recipe, fault);
		browser.open(browser.url().replaceAll("#.*", "") + "#run=" + run);
		browser.awaitShown("#why dd");
		browser.awaitShown("#keys tr");
		browser.awaitShown(".tl-both");
	}

	private static void save(Browser browser, String name) throws IOException {
		Path file = IMAGES.resolve(name + ".png");
		browser.run("return document.fonts.ready");
		browser.screenshot(file);
	}

}
