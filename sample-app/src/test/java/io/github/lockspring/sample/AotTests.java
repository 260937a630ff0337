package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.testsupport.process.JavaProcess;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.util.ClassUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The shop as the build has prepared it ahead of time, on a usual JVM: all beans, proxies
 * and conditions come from generated code.
 */
class AotTests {

	@TempDir
	private static Path directory;

	private static JavaProcess process;

	private static Shop shop;

	@BeforeAll
	static void open() {
		assertThat(ClassUtils.isPresent(SampleApplication.class.getName() + "__ApplicationContextInitializer", null))
			.as("the build has run spring-boot:process-aot, as \"mvn test\" does")
			.isTrue();
		shop = new Shop(RedisServer.freePort());
		List<String> options = new ArrayList<>(
				List.of("-Xmx128m", "-XX:+UseSerialGC", "-Xshare:auto", "-XX:TieredStopAtLevel=1"));
		options.addAll(List.of("-Dspring.aot.enabled=true", "-Dh2.bindAddress=127.0.0.1"));
		process = new JavaProcess("aot", directory, options, SampleApplication.class,
				List.of("--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + RedisServer.start().port(),
						"--server.port=" + shop.port(),
						"--spring.datasource.url=jdbc:h2:file:" + directory.resolve("shop"),
						"--shop.report.cron=* * * * * *", "--shop.report.min-hold=100ms",
						"--distributed-lock.wait-time=1m", "--spring.main.banner-mode=off"));
		await().atMost(Duration.ofSeconds(90)).ignoreExceptions().until(() -> {
			assertThat(process.isAlive()).as("the shop lives").isTrue();
			return shop.get("/api/instance").contains("\"port\":" + shop.port());
		});
	}

	@AfterAll
	static void close() {
		process.close();
	}

	@Test
	void beansComeFromGeneratedCode() {
		String line;
		do {
			line = process.hear(Duration.ofSeconds(10));
		}
		while (!line.contains("Starting "));
		assertThat(line).contains("Starting AOT-processed SampleApplication");
	}

	@Test
	void annotatedMethodsExcludeEachOther() {
		List<HttpResponse<String>> sales = shop.postAtOnce(10, "/api/stock/cup/sell");
		assertThat(sales).allSatisfy((sale) -> assertThat(sale.statusCode()).as(sale.body()).isEqualTo(200));
		assertThat(shop.get("/api/shop")).contains("\"cup\":990");
	}

	@Test
	void keyWithAPropertyFencingAndEndpointWork() {
		AtomicInteger number = new AtomicInteger();
		// another order, if a busy machine has packed one before it is cancelled
		await().until(() -> isLockedWhileItIsPacked("aot-" + number.incrementAndGet()));
		assertThat(shop.get("/actuator/health")).contains("UP");
	}

	private static boolean isLockedWhileItIsPacked(String order) {
		CompletableFuture<HttpResponse<String>> shipment = shop.post("/api/orders/" + order + "/ship");
		boolean shown = false;
		while (!shown && !shipment.isDone()) {
			shown = shop.get("/actuator/distributedlocks").contains("\"order:" + order + "\"");
		}
		int cancellation = shop.post("/api/orders/" + order + "/cancel").join().statusCode();
		assertThat(shipment.join().body()).contains("\"shipped\":true");
		return shown && cancellation == 409;
	}

	@Test
	void scheduledJobRunsUnderItsLock() {
		await().until(() -> shop.get("/api/shop").contains(" by "));
	}

}
