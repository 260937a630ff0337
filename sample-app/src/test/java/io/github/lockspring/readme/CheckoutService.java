package io.github.lockspring.readme;

import io.github.lockspring.DistributedLock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Locks outside and inside of a transaction.
 */
@Service
public class CheckoutService {

	private final StockRoom stock;

	CheckoutService(StockRoom stock) {
		this.stock = stock;
	}

	@Transactional
	@DistributedLock(name = "stock", key = "#order.articles")
	public void place(Order order) {
		// lock, begin, this work, commit, release
	}

	@Transactional
	public void checkOut(Order order) {
		this.stock.take(order.articles());
		// the locks of the articles are kept until the commit
	}

}
