package io.github.lockspring.readme;

import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Calls the service of the README.
 */
@RestController
class OrderController {

	private final OrderService orders;

	OrderController(OrderService orders) {
		this.orders = orders;
	}

	@PostMapping("/orders/{id}/cancel")
	void cancel(@PathVariable long id) {
		this.orders.cancel(id);
	}

}
