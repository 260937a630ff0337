package io.github.lockspring.transaction;

import io.github.lockspring.UnitOfWork;

import org.springframework.core.Ordered;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The transaction that the current thread runs in, if a transaction manager of Spring
 * began it. {@code SUPPORTS} without a transaction is none. Thread-safe.
 * <p>
 * Its end is that of the physical transaction: a savepoint is part of it, and an inner
 * one with {@code REQUIRES_NEW} is another one.
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
		 * As late as callbacks without an order, which are called in the order in which
		 * they were registered: those from before the lock was taken still run under it.
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
