package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;

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

	private static ShopProcess process;

	private static Shop shop;

	@BeforeAll
	static void open() {
		assertThat(ClassUtils.isPresent(SampleApplication.class.getName() + "__ApplicationContextInitializer", null))
			.as("the build has run spring-boot:process-aot, as \"mvn test\" does")
			.isTrue();
		process = new ShopProcess(directory, "-Dspring.aot.enabled=true", SampleApplication.class,
				List.of("--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + RedisServer.start().port(),
						"--spring.datasource.url=jdbc:h2:file:" + directory.resolve("shop"),
						"--shop.report.cron=* * * * * *", "--shop.report.min-hold=100ms",
						"--distributed-lock.wait-time=1m", "--spring.main.banner-mode=off"));
		shop = process.open();
	}

	@AfterAll
	static void close() {
		process.close();
	}

	@Test
	void beansComeFromGeneratedCode() {
		assertThat(process.awaitLine("Starting ")).contains("Starting AOT-processed SampleApplication");
	}

	@Test
	void annotatedMethodsExcludeEachOther() {
		List<HttpResponse<String>> sales = shop.postAtOnce(10, "/api/stock/cup/sell");
		assertThat(sales).allSatisfy((sale) -> assertThat(sale.statusCode()).as(sale.body()).isEqualTo(200));
		assertThat(shop.get("/api/shop")).contains("\"cup\":990");
	}

	@Test
	void keyWithAPropertyFencingAndEndpointWork() {
		assertThat(shop.post("/api/orders/aot/ship").join().body()).contains("\"shipped\":true");
		assertThat(shop.get("/actuator/distributedlocks")).contains("\"held\"");
		assertThat(shop.get("/actuator/health")).contains("UP");
	}

	@Test
	void scheduledJobRunsUnderItsLock() {
		await().until(() -> shop.get("/api/shop").contains(" by "));
	}

}
