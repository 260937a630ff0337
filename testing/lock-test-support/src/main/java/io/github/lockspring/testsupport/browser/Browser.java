package io.github.lockspring.testsupport.browser;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Consumer;

import io.github.lockspring.testsupport.Requires;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.Dimension;
import org.openqa.selenium.Keys;
import org.openqa.selenium.OutputType;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.interactions.Actions;
import org.openqa.selenium.support.ui.Select;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * A Chromium without a window. Elements are selected by CSS selectors.
 */
public final class Browser implements AutoCloseable {

	static final String BROWSER = "chromium";

	static final String DRIVER = "chromedriver";

	private static final String AXE = "/axe.min.js";

	private static @Nullable Browser shared;

	private final ChromeDriver driver;

	/**
	 * Returns the browser that the classes of a JVM share, with an empty page. It ends
	 * with the JVM.
	 */
	public static synchronized Browser shared() {
		Browser browser = shared;
		if (browser == null) {
			browser = new Browser();
			Runtime.getRuntime().addShutdownHook(new Thread(browser::close, "close-browser"));
			shared = browser;
		}
		browser.open("about:blank");
		browser.size(1280, 900);
		browser.prefers("light");
		browser.errors();
		return browser;
	}

	/** Opens a browser of its own. */
	public Browser() {
		// explicit paths, or Selenium would look for a driver to download
		ChromeDriverService service = new ChromeDriverService.Builder().usingDriverExecutable(path(DRIVER).toFile())
			.usingAnyFreePort()
			.withTimeout(Duration.ofMinutes(2))
			.build();
		ChromeOptions options = new ChromeOptions();
		options.setBinary(path(BROWSER).toFile());
		options.addArguments("--headless=new", "--no-sandbox", "--disable-background-networking",
				"--disable-dev-shm-usage", "--disable-gpu", "--no-first-run", "--force-color-profile=srgb",
				// without a graphics card, animations cost more than all tests
				"--force-prefers-reduced-motion");
		this.driver = new ChromeDriver(service, options);
		this.driver.manage().timeouts().scriptTimeout(Duration.ofMinutes(1));
		size(1280, 900);
	}

	private static Path path(String command) {
		return Requires.Condition.find(command, System.getenv("PATH")).orElseThrow();
	}

	/** Loads a page, even if it is already open, and waits until it is complete. */
	public void open(String url) {
		if (document(url).equals(document(url()))) {
			// a URL with only another hash would load nothing
			this.driver.get("about:blank");
		}
		this.driver.get(url);
		await().ignoreExceptions()
			.until(() -> Boolean.TRUE
				.equals(run("return document.readyState === 'complete' && location.href.split('#')[0] === arguments[0]",
						document(url))));
	}

	private static String document(String url) {
		return url.replaceAll("#.*", "");
	}

	public String url() {
		return String.valueOf(this.driver.getCurrentUrl());
	}

	/** Sets the size of the page; it can be narrower than a window. */
	public void size(int width, int height) {
		this.driver.manage().window().setSize(new Dimension(Math.max(width, 500), height));
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", false));
	}

	/** Sets what the system prefers, {@code light} or {@code dark}. */
	public void prefers(String scheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
	}

	/**
	 * Returns all texts at one moment: the page may draw its elements anew at the next.
	 */
	@SuppressWarnings("unchecked")
	public List<String> texts(String selector) {
		return (List<String>) Objects.requireNonNull(run(
				"return [...document.querySelectorAll(arguments[0])].map((one) => one.innerText.trim().replaceAll('\\u00a0', ' '))",
				selector));
	}

	public String text(String selector) {
		List<String> texts = texts(selector);
		assertThat(texts).as(selector).isNotEmpty();
		return texts.get(0);
	}

	public int count(String selector) {
		return this.driver.findElements(By.cssSelector(selector)).size();
	}

	public boolean isShown(String selector) {
		return Boolean.TRUE.equals(
				run("""
						return [...document.querySelectorAll(arguments[0])].some((one) => one.checkVisibility({ visibilityProperty: true }))
						""",
						selector));
	}

	public String attribute(String selector, String name) {
		return String
			.valueOf(run("return document.querySelector(arguments[0]).getAttribute(arguments[1])", selector, name))
			.replace('\u00a0', ' ');
	}

	/** Waits until a text contains these words. */
	public void awaitText(String selector, String words) {
		await().untilAsserted(() -> assertThat(String.join("\n", texts(selector))).contains(words));
	}

	public void awaitShown(String selector) {
		await().untilAsserted(() -> assertThat(isShown(selector)).as(selector + " is shown").isTrue());
	}

	public void click(String selector) {
		act(selector, WebElement::click);
	}

	public void choose(String selector, String value) {
		act(selector, (element) -> new Select(element).selectByValue(value));
	}

	public void type(String selector, CharSequence... keys) {
		act(selector, (element) -> element.sendKeys(keys));
	}

	/** Presses keys where the focus is. */
	public void press(Keys... keys) {
		new Actions(this.driver).sendKeys(keys).perform();
	}

	public void pointAt(String selector) {
		act(selector, (element) -> new Actions(this.driver).moveToElement(element).perform());
	}

	public void pointBeside(String selector, int right, int down) {
		act(selector, (element) -> new Actions(this.driver).moveToElement(element, right, down).perform());
	}

	/** Runs a script, and returns what it returns. */
	public @Nullable Object run(String script, Object... arguments) {
		return this.driver.executeScript(script, arguments);
	}

	/** Runs a script whose last argument is a function that takes its result. */
	public @Nullable Object runAsync(String script, Object... arguments) {
		return this.driver.executeAsyncScript(script, arguments);
	}

	/**
	 * Returns the problems that axe rates as serious or critical, as "rule: elements".
	 * @param rules the rules; all rules if there are none
	 */
	@SuppressWarnings("unchecked")
	public List<String> seriousViolations(String... rules) throws IOException {
		try (InputStream axe = Browser.class.getResourceAsStream(AXE)) {
			run(new String(Objects.requireNonNull(axe).readAllBytes(), StandardCharsets.UTF_8));
		}
		return (List<String>) Objects.requireNonNull(runAsync("""
				const done = arguments[arguments.length - 1];
				const options = { resultTypes: ['violations'] };
				if (arguments[0].length) options.runOnly = { type: 'rule', values: arguments[0] };
				axe.run(document, options).then((result) => done(result.violations
					.filter((one) => ['serious', 'critical'].includes(one.impact))
					.map((one) => one.id + ': ' + one.nodes.map((node) => node.target.join(' ')).join(', '))),
					(error) => done([String(error)]));
				""", List.of(rules)));
	}

	/**
	 * Returns the time that the page's thread has spent since it was loaded, in
	 * milliseconds: for scripts, styles and layout, and in all.
	 */
	@SuppressWarnings("unchecked")
	public Map<String, Double> work() {
		this.driver.executeCdpCommand("Performance.enable", Map.of());
		Map<String, Double> work = new TreeMap<>();
		Object metrics = this.driver.executeCdpCommand("Performance.getMetrics", Map.of()).get("metrics");
		((List<Map<String, Object>>) Objects.requireNonNull(metrics)).stream()
			.filter((metric) -> String.valueOf(metric.get("name")).matches("(Script|RecalcStyle|Layout|Task)Duration"))
			.forEach((metric) -> work.put(String.valueOf(metric.get("name")).replace("Duration", ""),
					((Number) Objects.requireNonNull(metric.get("value"))).doubleValue() * 1000));
		return work;
	}

	/** Returns the errors of scripts, and the resources that could not be loaded. */
	public List<String> errors() {
		return this.driver.manage()
			.logs()
			.get("browser")
			.getAll()
			.stream()
			.filter((entry) -> entry.getLevel().intValue() >= java.util.logging.Level.SEVERE.intValue())
			.map((entry) -> entry.getMessage())
			.toList();
	}

	public void screenshot(Path file) throws IOException {
		Files.createDirectories(file.getParent());
		Files.write(file, this.driver.getScreenshotAs(OutputType.BYTES));
	}

	/**
	 * Runs an action on an element. Repeats it if the page has replaced the element in
	 * the meantime, since the action then had no effect.
	 */
	private void act(String selector, Consumer<WebElement> action) {
		await().pollDelay(Duration.ZERO).ignoreException(StaleElementReferenceException.class).until(() -> {
			action.accept(this.driver.findElement(By.cssSelector(selector)));
			return true;
		});
	}

	@Override
	public void close() {
		this.driver.quit();
	}

}
