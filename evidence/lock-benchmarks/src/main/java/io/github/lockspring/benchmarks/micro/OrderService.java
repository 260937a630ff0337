package io.github.lockspring.benchmarks.micro;

import java.util.List;

import io.github.lockspring.DistributedLock;

/**
 * Empty methods: what a call of one costs is the advice.
 */
public class OrderService {

	/** Advised by {@link NoOpAdvice}. */
	public Object plain(Order order) {
		return order;
	}

	/** The method itself is the key. */
	@DistributedLock
	public Object itself(Order order) {
		return order;
	}

	@DistributedLock(key = "#id")
	public Object variable(String id) {
		return id;
	}

	@DistributedLock(key = "#id")
	public Object number(long id) {
		return this;
	}

	@DistributedLock(key = "#order.id")
	public Object property(Order order) {
		return order;
	}

	@DistributedLock(key = "#order.id", ttl = "30s", renew = true, waitTime = "2s")
	public Object propertyWithTimes(Order order) {
		return order;
	}

	@DistributedLock(key = "'order:' + #order.id")
	public Object concatenation(Order order) {
		return order;
	}

	@DistributedLock(name = "orders", key = "#order.customer + '/' + #order.id")
	public Object twoExpressions(Order order) {
		return order;
	}

	@DistributedLock(key = "#ids")
	public Object collection(List<String> ids) {
		return ids;
	}

	/**
	 * What is ordered.
	 */
	public static class Order {

		private final String id;

		public Order(String id) {
			this.id = id;
		}

		public String getId() {
			return this.id;
		}

		public String getCustomer() {
			return "customer-7";
		}

	}

}
