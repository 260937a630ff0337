package io.github.lockspring.transaction;

import io.github.lockspring.UnitOfWork;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Represents the outermost transaction of the current thread that is open, if a
 * transaction manager of Spring began it. Thread-safe.
 * <p>
 * A transaction is open until it is complete, except while its own manager has suspended
 * it for {@code REQUIRES_NEW} or {@code NOT_SUPPORTED}; a transaction that another
 * manager begins inside does not suspend it. A savepoint is part of its transaction, and
 * {@code SUPPORTS} without a transaction does not count as one.
 * <p>
 * Of several open transactions, the outermost is known only if its manager has a
 * {@link TransactionListenerRegistrar listener}. Without one, the innermost counts.
 *
 * @since 0.1
 */
public final class TransactionUnitOfWork implements UnitOfWork {

	@Override
	public boolean isActive() {
		return OpenTransaction.outermost() != null || (TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive());
	}

	@Override
	public void afterCompletion(Runnable action) {
		OpenTransaction outermost = OpenTransaction.outermost();
		if (outermost != null) {
			outermost.afterCompletion(action);
		}
		else {
			TransactionSynchronizationManager.registerSynchronization(new OpenTransaction.Completion(action));
		}
	}

}
