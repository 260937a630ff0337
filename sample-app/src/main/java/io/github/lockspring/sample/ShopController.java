package io.github.lockspring.sample;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.CrossOrigin;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/**
 * Serves the requests of the page. The page of one instance also sends requests to the
 * others, which requires {@code @CrossOrigin}.
 */
@RestController
@RequestMapping("/api")
@CrossOrigin(originPatterns = { "http://localhost:*", "http://127.0.0.1:*" })
class ShopController {

	/** Each article takes time, while the order and its articles are locked. */
	static final int MAX_ARTICLES = 20;

	private final OrderService orders;

	private final StockService stock;

	private final ReportJob report;

	private final Instance instance;

	private final EventLog log;

	ShopController(OrderService orders, StockService stock, ReportJob report, Instance instance, EventLog log) {
		this.orders = orders;
		this.stock = stock;
		this.report = report;
		this.instance = instance;
		this.log = log;
	}

	/**
	 * Returns the state of this instance, even without Redis.
	 */
	@GetMapping("/instance")
	Map<String, Object> instance() {
		return Map.of("name", this.instance.name(), "port", this.instance.port(), "pid", ProcessHandle.current().pid(),
				"server", this.instance.server(), "log", this.log.snapshot());
	}

	/**
	 * Returns the data that all instances share.
	 */
	@GetMapping("/shop")
	Map<String, Object> shop() {
		return Map.of("orders", this.orders.all(), "parcels", this.orders.parcels(), "stock", this.stock.levels(),
				"runs", this.report.lastRuns(), "instances", this.instance.all());
	}

	/**
	 * Ships an order. The response tells whether this request has shipped it or another
	 * one had done so before.
	 */
	@PostMapping("/orders/{id}/ship")
	Map<String, Object> ship(@PathVariable String id, @RequestBody List<String> articles) {
		checkOrder(id);
		if (articles.isEmpty() || articles.size() > MAX_ARTICLES) {
			throw badInput("An order has 1 to " + MAX_ARTICLES + " articles, not " + articles.size());
		}
		articles.forEach(ShopController::checkArticle);
		long start = System.nanoTime();
		boolean shipped = this.orders.ship(new Order(id, articles));
		long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
		return Map.of("order", id, "shipped", shipped, "millis", millis, "status",
				String.valueOf(this.orders.statusOf(id)));
	}

	@PostMapping("/orders/{id}/cancel")
	Map<String, Object> cancel(@PathVariable String id) {
		checkOrder(id);
		this.orders.cancel(id);
		return Map.of("order", id, "status", String.valueOf(this.orders.statusOf(id)));
	}

	@PostMapping("/stock/{article}/sell")
	Map<String, Object> sell(@PathVariable String article) {
		checkArticle(article);
		return Map.of("article", article, "left", this.stock.sell(article));
	}

	@PostMapping("/stock/{article}/sell-without-lock")
	Map<String, Object> sellWithoutLock(@PathVariable String article) {
		checkArticle(article);
		return Map.of("article", article, "left", this.stock.sellWithoutLock(article));
	}

	@PostMapping("/stock/count")
	Map<String, Object> count() {
		return Map.of("pieces", this.stock.countSlowly());
	}

	@DeleteMapping("/shop")
	void clear() {
		this.orders.clear();
		this.stock.fill();
	}

	private static void checkOrder(String id) {
		if (!id.matches("[\\w-]{1,60}")) {
			throw badInput(
					"The number of an order has 1 to 60 letters, digits, dashes and underscores, such as order-1");
		}
	}

	private static void checkArticle(String article) {
		if (StockService.ARTICLES.stream().noneMatch((known) -> known.equals(article))) {
			throw badInput("The shop does not sell '" + article + "', only " + StockService.ARTICLES);
		}
	}

	private static ResponseStatusException badInput(String words) {
		return new ResponseStatusException(HttpStatus.BAD_REQUEST, words);
	}

}
