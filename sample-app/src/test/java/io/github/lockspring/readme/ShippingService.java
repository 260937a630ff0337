package io.github.lockspring.readme;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Lets the database reject a late writer.
 */
@Service
public class ShippingService {

	@Transactional
	@Fenced
	@DistributedLock(name = "order", key = "#orderId")
	public void ship(long orderId) {
		// the token was checked; read the order here, not before
	}

}
