package io.github.lockspring.sample;

import java.io.IOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What the pages about endpoint and meters show of the running shop is what the shop
 * says.
 */
@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "shop.packing-time=0s", "distributed-lock.wait-time=2m",
				"spring.datasource.url=jdbc:h2:mem:observed;DB_CLOSE_DELAY=-1",
				"management.defaults.metrics.export.enabled=true" })
class ObservabilityPageTests {

	private static final RedisServer REDIS = RedisServer.start();

	private static final Path PAGES = Path.of("..", "docs", "reference");

	private static final String KEY = "order:4711";

	@LocalServerPort
	private int port;

	@Autowired
	private LockTemplate locks;

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", REDIS::port);
	}

	@Test
	void endpointAndScrapeAreAsThePageShowsThem() throws IOException {
		Shop shop = new Shop(this.port);
		String key = "/actuator/distributedlocks?key=" + KEY;
		CompletableFuture<HttpResponse<String>> shipment;
		try (HeldLock lock = this.locks.acquire(LockRequest.of("order", 4711))) {
			shipment = shop.post("/api/orders/4711/ship");
			await().until(() -> shop.get(key).contains("\"waiting\":1") && shop.get(key).contains("\"pid\""));
			assertThat(lock.isHeld()).isTrue();
			List<String> shown = blocks("endpoint.md", "json");
			assertThat(shown).hasSize(2);
			assertThat(shape(shop.get("/actuator/distributedlocks"))).isEqualTo(shape(shown.get(0)));
			assertThat(shape(shop.get(key))).isEqualTo(shape(shown.get(1)));
		}
		assertThat(shipment.join().statusCode()).isEqualTo(200);
		String scrape = shop.get("/actuator/prometheus");
		List<String> lines = blocks("meters.md", "").stream()
			.flatMap(String::lines)
			.filter((line) -> line.startsWith("distributed_lock"))
			.map((line) -> line.replaceAll(" \\S+$", ""))
			.toList();
		assertThat(lines).hasSizeGreaterThan(10)
			.allSatisfy((line) -> assertThat(scrape.lines()).anyMatch((scraped) -> scraped.startsWith(line + " ")));
	}

	private static List<String> blocks(String page, String language) throws IOException {
		return Pattern.compile("^```(\\w*)\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE)
			.matcher(Files.readString(PAGES.resolve(page)))
			.results()
			.filter((block) -> block.group(1).equals(language))
			.map((block) -> block.group(2))
			.toList();
	}

	private static Object shape(String json) {
		return shape(JsonParserFactory.getJsonParser().parseMap(json));
	}

	/** The same with kinds of values in place of values. */
	private static Object shape(@Nullable Object value) {
		if (value instanceof Map<?, ?> map) {
			return map.entrySet()
				.stream()
				.collect(Collectors.toMap(Map.Entry::getKey, (entry) -> shape(entry.getValue())));
		}
		if (value instanceof List<?> list) {
			return list.stream().map(ObservabilityPageTests::shape).toList();
		}
		if (value instanceof Number) {
			return "number";
		}
		String text = String.valueOf(value);
		return text.startsWith("PT") ? "duration" : text.matches("\\d{4}-\\d\\d-\\d\\dT.*Z") ? "time" : "text";
	}

}
