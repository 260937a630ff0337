package io.github.lockspring.check;

import java.util.function.Supplier;

import io.github.lockspring.DistributedLock;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Service;

/**
 * An application that has starters and Actuator.
 */
@SpringBootApplication
public class Application {

	/**
	 * Has a method with a lock.
	 */
	@Service
	public static class Orders {

		/**
		 * Ships an order.
		 * @param order the order's number
		 * @param work what is done under the lock
		 * @return what the work returns
		 */
		@DistributedLock(name = "order", key = "#order", waitTime = "0s")
		public <T> T ship(long order, Supplier<T> work) {
			return work.get();
		}

	}

}
