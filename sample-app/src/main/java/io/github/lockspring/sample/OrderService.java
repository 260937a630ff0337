package io.github.lockspring.sample;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Ships each order once, even if many requests for it arrive at several instances at the
 * same time.
 */
@Service
public class OrderService {

	private static final Logger logger = LoggerFactory.getLogger(OrderService.class);

	private final JdbcTemplate jdbc;

	private final StockService stock;

	private final Instance instance;

	private final Duration packingTime;

	OrderService(JdbcTemplate jdbc, StockService stock, Instance instance,
			@Value("${shop.packing-time}") Duration packingTime) {
		this.jdbc = jdbc;
		this.stock = stock;
		this.instance = instance;
		this.packingTime = packingTime;
	}

	/**
	 * Ships an order unless it has already been shipped. The lease has the default length
	 * of 30 seconds, so a crashed instance blocks the order no longer than that. It is
	 * renewed, so packing may take longer, but no longer than {@code maxHold}, since the
	 * caller decides how much there is to pack. No transaction is open during packing.
	 * @param order the order
	 * @return whether this call shipped it
	 */
	@DistributedLock(name = "order", key = "#order.id", maxHold = "1m")
	public boolean ship(Order order) {
		if (statusOf(order.id()) != null) {
			return false;
		}
		pack(order);
		this.stock.book(order);
		return true;
	}

	/**
	 * Cancels an order that has not been shipped. Does not wait: while the order is being
	 * packed, this fails immediately with
	 * {@link io.github.lockspring.LockNotAcquiredException}.
	 * @param orderId the order's number
	 */
	@Transactional
	@Fenced
	@DistributedLock(name = "order", key = "#orderId", waitTime = "0s")
	public void cancel(String orderId) {
		if (statusOf(orderId) == null) {
			this.jdbc.update("INSERT INTO orders (id, status) VALUES (?, ?)", orderId,
					"cancelled by " + this.instance.name());
		}
	}

	/**
	 * Returns the status of an order.
	 * @param orderId the order's number
	 * @return its status, or null if it is open
	 */
	public @Nullable String statusOf(String orderId) {
		List<String> status = this.jdbc.queryForList("SELECT status FROM orders WHERE id = ?", String.class, orderId);
		return status.isEmpty() ? null : status.get(0);
	}

	public Map<String, String> all() {
		Map<String, String> orders = new TreeMap<>();
		this.jdbc.query("SELECT id, status FROM orders", (row) -> {
			orders.put(row.getString("id"), row.getString("status"));
		});
		return orders;
	}

	/**
	 * Returns the number of parcels that were sent. With working locks it equals the
	 * number of orders shipped.
	 * @return the number
	 */
	public long parcels() {
		Long parcels = this.jdbc.queryForObject("SELECT COUNT(*) FROM parcels", Long.class);
		return (parcels != null) ? parcels : 0;
	}

	/**
	 * Deletes all orders.
	 */
	public void clear() {
		this.jdbc.execute("DELETE FROM orders");
		this.jdbc.execute("TRUNCATE TABLE parcels RESTART IDENTITY");
	}

	private void pack(Order order) {
		logger.info("Packing {}", order.id());
		try {
			TimeUnit.NANOSECONDS.sleep(this.packingTime.toNanos());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while packing", ex);
		}
	}

}
