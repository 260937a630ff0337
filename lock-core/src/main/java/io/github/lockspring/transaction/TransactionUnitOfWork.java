package io.github.lockspring.transaction;

import io.github.lockspring.UnitOfWork;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Represents the transaction of the current thread, if a transaction manager of Spring
 * began it. {@code SUPPORTS} without a transaction does not count as one. Thread-safe.
 * <p>
 * The unit of work ends with the physical transaction: a savepoint is part of it, and an
 * inner transaction with {@code REQUIRES_NEW} is another unit of work.
 *
 * @since 0.1
 */
public final class TransactionUnitOfWork implements UnitOfWork {

	@Override
	public boolean isActive() {
		return TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive();
	}

	@Override
	public void afterCompletion(Runnable action) {
		TransactionSynchronizationManager.registerSynchronization(new Completion(action));
	}

	private record Completion(Runnable action) implements TransactionSynchronization {

		/**
		 * Returns the order of callbacks without an order, which are called in the order
		 * of registration. Those that were registered before the lock was acquired
		 * therefore still run under it.
		 */
		@Override
		public int getOrder() {
			return Ordered.LOWEST_PRECEDENCE;
		}

		@Override
		public void afterCompletion(int status) {
			this.action.run();
		}

	}

}
