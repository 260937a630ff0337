package io.github.lockspring.sample;

import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.UUID;

import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.testsupport.redis.RedisServer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT,
		properties = { "shop.report.cron=-", "distributed-lock.wait-time=30s" })
class ShopTests {

	private static final RedisServer REDIS = RedisServer.start();

	@LocalServerPort
	private int port;

	@Autowired
	private StockService stock;

	@Autowired
	private OrderService orders;

	@Autowired
	private LockTemplate locks;

	private Shop shop;

	private final String order = "order-" + UUID.randomUUID();

	@DynamicPropertySource
	static void redis(DynamicPropertyRegistry registry) {
		registry.add("spring.data.redis.host", () -> "127.0.0.1");
		registry.add("spring.data.redis.port", REDIS::port);
	}

	@BeforeEach
	void open() {
		this.shop = new Shop(this.port);
		this.orders.clear();
		this.stock.fill();
	}

	@Test
	void shipsAnOrderOnceAlthoughRequestsRace() {
		List<HttpResponse<String>> answers = this.shop.postAtOnce(4, "/api/orders/" + this.order + "/ship");
		assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(200);
		assertThat(answers).extracting(HttpResponse::body)
			.allMatch((body) -> body.contains("parcel 1, shipped by"))
			.anyMatch((body) -> body.contains("\"shipped\":true"))
			.anyMatch((body) -> body.contains("\"shipped\":false") && body.contains("\"millis\":"));
		assertThat(this.orders.parcels()).isOne();
		assertThat(this.stock.levels()).containsEntry("tea", 999);
	}

	@Test
	void laterHolderOfAnOrderSendsNoSecondParcel() {
		for (int i = 0; i < 2; i++) {
			this.locks.execute(LockRequest.of("order:" + this.order), (lock) -> {
				this.stock.book(new Order(this.order, List.of("tea")));
				return null;
			});
		}
		assertThat(this.orders.parcels()).isOne();
		assertThat(this.stock.levels()).containsEntry("tea", 999);
		assertThat(this.orders.statusOf(this.order)).startsWith("parcel 1,");
	}

	@Test
	void answersConflictToACancellationWhileTheOrderIsLocked() {
		HttpResponse<String> busy = this.locks.execute(LockRequest.of("order:" + this.order),
				(lock) -> this.shop.post("/api/orders/" + this.order + "/cancel").join());
		assertThat(busy.statusCode()).isEqualTo(409);
		assertThat(busy.body()).contains("\"outcome\":\"busy\"", "Another request is changing this");
		assertThat(this.orders.statusOf(this.order)).isNull();

		HttpResponse<String> free = this.shop.post("/api/orders/" + this.order + "/cancel").join();
		assertThat(free.statusCode()).isEqualTo(200);
		assertThat(free.body()).contains("cancelled by");
	}

	@Test
	void badInputIsAnsweredInWords() {
		HttpResponse<String> number = this.shop.post("/api/orders/%20/cancel").join();
		assertThat(number.statusCode()).isEqualTo(400);
		assertThat(number.body()).contains("The number of an order has 1 to 60 letters");
		HttpResponse<String> article = this.shop.post("/api/stock/coffee/sell").join();
		assertThat(article.statusCode()).isEqualTo(400);
		assertThat(article.body()).contains("The shop does not sell 'coffee', only [cup, honey, tea]");
	}

	@Test
	void losesNoSaleUnderTheLock() {
		List<HttpResponse<String>> answers = this.shop.postAtOnce(20, "/api/stock/tea/sell");
		assertThat(answers).extracting(HttpResponse::statusCode).containsOnly(200);
		assertThat(this.stock.levels()).containsEntry("tea", 980);
	}

	@Test
	void losesSalesWithoutTheLock() {
		await().atMost(Duration.ofSeconds(30)).until(() -> {
			this.stock.fill();
			this.shop.postAtOnce(20, "/api/stock/tea/sell-without-lock");
			return this.stock.levels().get("tea") > 980;
		});
	}

	@Test
	void saysThatTheLockWasLostWhenTheWorkOutlastsTheLease() {
		HttpResponse<String> counting = this.shop.post("/api/stock/count").join();
		assertThat(counting.statusCode()).isEqualTo(500);
		assertThat(counting.body()).contains("\"outcome\":\"lost\"", "Check the result");
		// losses are told on a thread of their own
		await().untilAsserted(() -> assertThat(this.shop.get("/api/instance")).contains("\"lost\":1"));
	}

	@Test
	void servesThePagesAndWhatAllInstancesShare() {
		assertThat(this.shop.get("/shop.html")).contains("<h1>Lockspring shop</h1>");
		assertThat(this.shop.get("/")).contains("<title>Lockspring failure lab</title>").contains("href=\"shop.html\"");
		assertThat(this.shop.get("/api/shop")).contains("\"tea\":1000").contains("\"instances\":[" + this.port + "]");
	}

}
