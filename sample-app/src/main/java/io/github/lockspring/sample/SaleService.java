package io.github.lockspring.sample;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.FencingGuard;
import io.github.lockspring.HeldLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Books the packed orders.
 */
@Service
public class SaleService {

	private static final Logger logger = LoggerFactory.getLogger(SaleService.class);

	private final Shelves shelves;

	private final JdbcTemplate jdbc;

	private final FencingGuard fencingToken;

	private final Instance instance;

	SaleService(Shelves shelves, JdbcTemplate jdbc, FencingGuard fencingToken, Instance instance) {
		this.shelves = shelves;
		this.jdbc = jdbc;
		this.fencingToken = fencingToken;
		this.instance = instance;
	}

	/**
	 * Takes one piece of each article of an order and sends the parcel: both, or neither.
	 * A key that is a collection locks all its elements, always in the same order, so two
	 * orders cannot deadlock.
	 * <p>
	 * {@code @Fenced} checks the tokens of these locks, and the code checks the token of
	 * the lock of the order itself, since packing took a while and another instance may
	 * have sent the order meanwhile. Only data that is read after the check is reliable,
	 * so this reads the status again: an earlier holder that was paused before its commit
	 * may have committed while this one packed. In that case nothing is sent.
	 * @param order the order, whose lock the caller holds
	 */
	@Transactional
	@Fenced
	@DistributedLock(name = "stock", key = "#order.articles", maxHold = "1m")
	public void book(Order order) {
		HeldLock lock = HeldLock.current("order:" + order.id()).orElseThrow();
		this.fencingToken.check(lock);
		if (!isOpen(order)) {
			logger.info("Another instance has processed {} meanwhile. No parcel is sent", order.id());
			return;
		}
		order.articles().forEach(this.shelves::takeOne);
		Long parcel = this.jdbc.queryForObject(
				"SELECT number FROM FINAL TABLE (INSERT INTO parcels (order_id) VALUES (?))", Long.class, order.id());
		this.jdbc.update("MERGE INTO orders (id, status) VALUES (?, ?)", order.id(),
				"parcel " + parcel + ", shipped by " + this.instance.name() + ", token " + lock.fencingToken());
	}

	boolean isOpen(Order order) {
		return this.jdbc.queryForList("SELECT status FROM orders WHERE id = ?", String.class, order.id()).isEmpty();
	}

}
