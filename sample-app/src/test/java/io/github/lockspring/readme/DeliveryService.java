package io.github.lockspring.readme;

import io.github.lockspring.DistributedLock;

import org.springframework.stereotype.Service;

/**
 * Calls another bean under a lock.
 */
@Service
public class DeliveryService {

	private final LabelPrinter printer;

	DeliveryService(LabelPrinter printer) {
		this.printer = printer;
	}

	@DistributedLock(name = "order", key = "#id")
	public void deliver(long id) {
		this.printer.print(id);
	}

}
