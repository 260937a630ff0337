package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An instance of the shop stands still in the middle of a sale, for longer than its lease
 * lasts; another one sells meanwhile; then the first one goes on, and knows nothing of
 * it.
 */
class StoppedShopTests {

	@TempDir
	private static Path directory;

	private static ConfigurableApplicationContext here;

	private static List<String> shared;

	private static Shop shop;

	private static OrderService orders;

	private static StockService stock;

	@BeforeAll
	static void open() {
		System.setProperty("h2.bindAddress", "127.0.0.1");
		shared = List.of("--spring.data.redis.host=127.0.0.1", "--spring.data.redis.port=" + RedisServer.start().port(),
				"--shop.report.cron=-",
				"--spring.datasource.url=jdbc:h2:file:" + directory.resolve("shop") + ";AUTO_SERVER=TRUE",
				"--distributed-lock.ttl=4s", "--distributed-lock.wait-time=1m");
		// first, so that it is not the database that stands still
		here = new SpringApplicationBuilder(SampleApplication.class)
			.run(with("--server.port=0", "--shop.packing-time=0s").toArray(String[]::new));
		shop = new Shop(here.getBean(Instance.class).port());
		orders = here.getBean(OrderService.class);
		stock = here.getBean(StockService.class);
	}

	@AfterAll
	static void close() {
		here.close();
	}

	private String order = "";

	@BeforeEach
	void clear() {
		this.order = "order-" + UUID.randomUUID();
		orders.clear();
		stock.fill();
	}

	@Test
	@Tag("pause-fencing")
	void f09ShopThatWasPausedDuringASaleIsRefusedByTheDatabase() {
		try (ShopProcess careful = start(SampleApplication.class)) {
			HttpResponse<String> late = shipWhileStandingStill(careful);
			assertThat(late.statusCode()).as(late.body()).isEqualTo(409);
			assertThat(late.body()).contains("\"outcome\":\"refused\"");
			assertThat(careful.open().get("/api/instance")).containsPattern("\"refused\":[1-9]");
			assertThat(orders.parcels()).isOne();
			assertThat(stock.levels()).containsEntry("tea", 999);
			assertThat(orders.statusOf(this.order))
				.contains("parcel 1, shipped by " + here.getBean(Instance.class).name());
		}
	}

	/** So that the test above is known to be able to fail. */
	@Test
	@Tag("pause-fixed-renewed")
	void f09ShopWithoutFencingAndCommitGuardSellsTwice() {
		try (ShopProcess careless = start(CarelessShop.class)) {
			assertThat(shipWhileStandingStill(careless).body()).contains("\"outcome\":\"lost\"");
			assertThat(orders.parcels()).isEqualTo(2);
			assertThat(stock.levels()).containsEntry("tea", 998);
		}
	}

	private static ShopProcess start(Class<?> main) {
		return new ShopProcess(directory, "-ea", main, with("--shop.packing-time=3s", "--spring.main.banner-mode=off"));
	}

	/** Gives what the shop that stood still answers in the end. */
	private HttpResponse<String> shipWhileStandingStill(ShopProcess other) {
		CompletableFuture<HttpResponse<String>> late = other.open().post(ship());
		other.awaitLine("Packing " + this.order);
		other.signal("STOP");
		try {
			if (orders.statusOf(this.order) == null) {
				HttpResponse<String> inTime = shop.post(ship()).join();
				if (!inTime.body().contains("\"outcome\":\"lost\"")) {
					assertThat(inTime.statusCode()).as(inTime.body()).isEqualTo(200);
					other.signal("CONT");
					return late.join();
				}
			}
		}
		finally {
			other.signal("CONT");
		}
		// it was quicker than the signal, or this JVM slower than its lease: once more
		late.join();
		clear();
		return shipWhileStandingStill(other);
	}

	private String ship() {
		return "/api/orders/" + this.order + "/ship";
	}

	private static List<String> with(String... own) {
		return Stream.concat(shared.stream(), Stream.of(own)).toList();
	}

	/**
	 * A shop with a fence that lets everybody pass, without a check before commits, and
	 * that looks only once whether an order is open, before it packs. No component, or
	 * every shop of the tests would have it.
	 */
	static final class CarelessShop {

		public static void main(String[] args) {
			SpringApplication shop = new SpringApplication(SampleApplication.class, CarelessShop.class);
			shop.setDefaultProperties(Map.of("distributed-lock.transaction.verify-before-commit", "off"));
			shop.run(args);
		}

		@Bean
		FencingGuard noFencingToken() {
			return (resource, token) -> {
			};
		}

		@Bean
		@Primary
		StockService carelessStock(JdbcTemplate jdbc, FencingGuard fencingToken, LockTemplate locks,
				Instance instance) {
			return new StockService(jdbc, fencingToken, locks, instance) {

				@Override
				boolean isOpen(Order order) {
					return true;
				}

			};
		}

	}

}
