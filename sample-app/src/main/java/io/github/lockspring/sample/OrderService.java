package io.github.lockspring.sample;

import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.HeldLock;
import io.github.lockspring.annotation.DistributedLock;
import org.jspecify.annotations.Nullable;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.stereotype.Service;

/**
 * Ships each order once, however many requests for it arrive at once, and at whichever
 * instances.
 */
@Service
public class OrderService {

	private static final String ORDERS = "shop:orders";

	private static final String PARCELS = "shop:parcels";

	private final StringRedisTemplate redis;

	private final StockService stock;

	private final Instance instance;

	OrderService(StringRedisTemplate redis, StockService stock, Instance instance) {
		this.redis = redis;
		this.stock = stock;
		this.instance = instance;
	}

	/**
	 * Ships an order, unless that has been done. The lease is 30 seconds long, so that a
	 * crashed instance blocks the order no longer than that, and is renewed, so that
	 * packing may take longer.
	 * @param order the order
	 */
	@DistributedLock(key = "#order.id", ttl = "30s", renew = true)
	public void ship(Order order) {
		if (statusOf(order.id()) != null) {
			return;
		}
		pack();
		this.stock.take(order.articles());
		long parcel = increment(PARCELS);
		String token = HeldLock.current(order.id()).map((lock) -> ", token " + lock.fencingToken()).orElse("");
		setStatus(order.id(), "parcel " + parcel + ", shipped by " + this.instance.name() + token);
	}

	/**
	 * Cancels an order that has not been shipped. Does not wait: while the order is being
	 * packed, this fails at once with
	 * {@link io.github.lockspring.LockNotAcquiredException}.
	 * @param orderId the order's number
	 */
	@DistributedLock(key = "#orderId", waitTime = "0s")
	public void cancel(String orderId) {
		if (statusOf(orderId) == null) {
			setStatus(orderId, "cancelled by " + this.instance.name());
		}
	}

	/**
	 * What has become of an order.
	 * @param orderId the order's number
	 * @return its status, or null if it is open
	 */
	public @Nullable String statusOf(String orderId) {
		return this.redis.<String, String>opsForHash().get(ORDERS, orderId);
	}

	public Map<String, String> all() {
		return this.redis.<String, String>opsForHash().entries(ORDERS);
	}

	/**
	 * How many parcels have left the shop. With working locks it is the number of orders
	 * shipped.
	 * @return the number
	 */
	public long parcels() {
		String parcels = this.redis.opsForValue().get(PARCELS);
		return (parcels != null) ? Long.parseLong(parcels) : 0;
	}

	/**
	 * Forgets all orders.
	 */
	public void clear() {
		this.redis.delete(List.of(ORDERS, PARCELS));
	}

	private void setStatus(String orderId, String status) {
		this.redis.opsForHash().put(ORDERS, orderId, status);
	}

	private long increment(String key) {
		Long value = this.redis.opsForValue().increment(key);
		return (value != null) ? value : 0;
	}

	private void pack() {
		try {
			TimeUnit.SECONDS.sleep(2);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Interrupted while packing", ex);
		}
	}

}
