package io.github.lockspring.readme;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;

import org.springframework.stereotype.Service;

/**
 * The annotated methods of the README and the pages.
 */
@Service
public class OrderService {

	private final List<List<String>> held = new ArrayList<>();

	@DistributedLock(name = "order", key = "#order.id", ttl = "30s", renew = true)
	public void ship(Order order) {
		// one call at a time for each order, on all instances together
		remember();
	}

	@DistributedLock(name = "order", key = "#id", waitTime = "0s")
	public void cancel(long id) {
		// while another call holds the lock of this order, this one fails immediately
		remember();
	}

	@DistributedLock(name = "order", key = "#orders.![id]")
	public void shipAll(List<Order> orders) {
		// holds order:1 and order:2 for the orders 1 and 2
		remember();
	}

	@DistributedLock(key = "{'order:' + #order, 'customer:' + #customer}")
	public void assign(long order, long customer) {
		// assign(1, 2) holds order:1 and customer:2
		remember();
	}

	@DistributedLock(name = "order", key = "#order.id")
	public long invoice(Order order) {
		long token = HeldLock.current().orElseThrow().fencingToken();
		return token;
	}

	@OrderLock(waitTime = "2s")
	public void refund(long id) {
		// waits for two seconds at most
		remember();
	}

	private void remember() {
		this.held.add(HeldLock.current().orElseThrow().keys());
	}

	/** Returns the keys under which the methods have run. */
	List<List<String>> held() {
		return this.held;
	}

}
