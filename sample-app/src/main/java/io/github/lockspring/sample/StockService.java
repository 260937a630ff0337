package io.github.lockspring.sample;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sells articles from stock. A sale reads a number, pauses, and writes a smaller number.
 * Such code loses updates when it runs twice at the same time.
 */
@Service
public class StockService {

	static final List<String> ARTICLES = List.of("cup", "honey", "tea");

	private static final int FULL = 1000;

	private static final Logger logger = LoggerFactory.getLogger(StockService.class);

	private final JdbcTemplate jdbc;

	private final FencingGuard fencingToken;

	private final LockTemplate locks;

	private final Instance instance;

	StockService(JdbcTemplate jdbc, FencingGuard fencingToken, LockTemplate locks, Instance instance) {
		this.jdbc = jdbc;
		this.fencingToken = fencingToken;
		this.locks = locks;
		this.instance = instance;
	}

	/**
	 * Sells one piece. Each of the three annotations has its own task. The lock makes
	 * sales wait for each other. The transaction rolls back if the lock was lost before
	 * the commit. Fencing lets the database refuse this instance if a later holder has
	 * sold in the meantime.
	 * @param article the article
	 * @return the pieces left
	 */
	@Transactional
	@Fenced
	@DistributedLock(name = "stock", key = "#article")
	public int sell(String article) {
		return takeOne(article);
	}

	/**
	 * Sells one piece without a lock, to show that a transaction alone does not prevent
	 * lost updates.
	 * @param article the article
	 * @return the pieces left
	 */
	@Transactional
	public int sellWithoutLock(String article) {
		return takeOne(article);
	}

	/**
	 * Takes one piece of each article of an order and sends the parcel: both or neither.
	 * If the key is a collection, all its elements are locked, always in the same order,
	 * so two orders cannot deadlock.
	 * <p>
	 * {@code @Fenced} checks the tokens of these locks. The code itself checks the token
	 * of the order's lock, since packing took a while and another instance may have sent
	 * the order in the meantime. Only data read after the check is reliable, so the
	 * status is read again: an earlier holder, paused before its commit, may have
	 * committed during packing. Then nothing is sent.
	 * @param order the order, whose lock the caller holds
	 */
	@Transactional
	@Fenced
	@DistributedLock(name = "stock", key = "#order.articles", maxHold = "1m")
	public void book(Order order) {
		HeldLock lock = HeldLock.current("order:" + order.id()).orElseThrow();
		this.fencingToken.check(lock);
		if (!isOpen(order)) {
			logger.info("Another instance has processed {} in the meantime. No parcel is sent", order.id());
			return;
		}
		order.articles().forEach(this::takeOne);
		Long parcel = this.jdbc.queryForObject(
				"SELECT number FROM FINAL TABLE (INSERT INTO parcels (order_id) VALUES (?))", Long.class, order.id());
		this.jdbc.update("MERGE INTO orders (id, status) VALUES (?, ?)", order.id(),
				"parcel " + parcel + ", shipped by " + this.instance.name() + ", token " + lock.fencingToken());
	}

	boolean isOpen(Order order) {
		return this.jdbc.queryForList("SELECT status FROM orders WHERE id = ?", String.class, order.id()).isEmpty();
	}

	/**
	 * Counts the stock for three seconds under a lease of one second that is not renewed.
	 * So the lock is lost, and the call fails with
	 * {@link io.github.lockspring.LockLostException}. Do not copy this method.
	 * @return the number of pieces
	 */
	@DistributedLock(name = "stocktaking", key = "'all'", ttl = "1s", renew = false)
	public int countSlowly() {
		pause(3000);
		return levels().values().stream().mapToInt(Integer::intValue).sum();
	}

	/**
	 * Fills the shelves between sales, with the locks of all articles.
	 */
	public void fill() {
		this.locks.execute(LockRequest.ofKeys("stock", ARTICLES), (lock) -> this.jdbc.update("DELETE FROM stock"));
	}

	public Map<String, Integer> levels() {
		Map<String, Integer> levels = new TreeMap<>();
		ARTICLES.forEach((article) -> levels.put(article, level(article)));
		return levels;
	}

	private int takeOne(String article) {
		int left = level(article) - 1;
		pause(10);
		this.jdbc.update("MERGE INTO stock (article, pieces) VALUES (?, ?)", article, left);
		return left;
	}

	private int level(String article) {
		return this.jdbc.queryForList("SELECT pieces FROM stock WHERE article = ?", Integer.class, article)
			.stream()
			.findFirst()
			.orElse(FULL);
	}

	private static void pause(long millis) {
		try {
			TimeUnit.MILLISECONDS.sleep(millis);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while working", ex);
		}
	}

}
