package io.github.lockspring.internal.transaction;

import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.internal.UnitOfWork;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.ResourceTransactionManager;
import org.springframework.transaction.support.TransactionSynchronization;
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

	/**
	 * The transactions of a thread in the order of their beginning, which is the reverse
	 * order of their ends.
	 */
	private static final ThreadLocal<@Nullable List<OpenTransaction>> INCOMPLETE = new ThreadLocal<>();

	@Override
	public boolean isActive() {
		return outermost() != null || (TransactionSynchronizationManager.isActualTransactionActive()
				&& TransactionSynchronizationManager.isSynchronizationActive());
	}

	@Override
	public void afterCompletion(Runnable action) {
		OpenTransaction outermost = outermost();
		if (outermost != null) {
			outermost.afterCompletion(action);
		}
		else {
			TransactionSynchronizationManager.registerSynchronization(new Completion(action));
		}
	}

	/**
	 * Returns the outermost transaction of the current thread that is open, which means
	 * neither complete nor suspended.
	 * @return the transaction, or null if none of a {@link Tracker tracked} manager is
	 * open
	 */
	private static @Nullable OpenTransaction outermost() {
		List<OpenTransaction> incomplete = INCOMPLETE.get();
		if (incomplete != null) {
			for (int i = 0; i < incomplete.size(); i++) {
				if (incomplete.get(i).isOpen(incomplete.subList(i + 1, incomplete.size()))) {
					return incomplete.get(i);
				}
			}
		}
		return null;
	}

	/**
	 * Keeps track of the transactions of one manager. Thread-safe.
	 *
	 * @param manager the manager that it is a listener of
	 */
	record Tracker(ConfigurableTransactionManager manager) implements TransactionExecutionListener {

		/** Leaves out savepoints, and transactions without synchronizations. */
		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			if (beginFailure == null && transaction instanceof DefaultTransactionStatus status
					&& status.isNewSynchronization()) {
				OpenTransaction open = new OpenTransaction(this.manager);
				TransactionSynchronizationManager.registerSynchronization(open);
				List<OpenTransaction> incomplete = INCOMPLETE.get();
				if (incomplete == null) {
					incomplete = new ArrayList<>(2);
					INCOMPLETE.set(incomplete);
				}
				incomplete.add(open);
			}
		}

	}

	/**
	 * A transaction of the current thread that is not complete. Spring shows the
	 * synchronizations of the innermost one only: when another manager begins a
	 * transaction inside, those of the outer one are hidden, although its resource stays
	 * bound and work inside may still write to it.
	 */
	/*
	 * For maintainers: only the thread of the transaction uses an instance.
	 */
	private static final class OpenTransaction implements TransactionSynchronization {

		private final ConfigurableTransactionManager manager;

		/**
		 * The resource that the manager has bound to the thread; null if there is none,
		 * as with JTA.
		 */
		private final @Nullable Object resource;

		/** Whether its synchronizations are hidden. */
		private boolean hidden;

		/** The actions to register when they are visible again. */
		private final List<Runnable> waiting = new ArrayList<>(0);

		private OpenTransaction(ConfigurableTransactionManager manager) {
			this.manager = manager;
			this.resource = boundResource(manager);
		}

		private static @Nullable Object boundResource(ConfigurableTransactionManager manager) {
			return (manager instanceof ResourceTransactionManager known)
					? TransactionSynchronizationManager.getResource(known.getResourceFactory()) : null;
		}

		private boolean isOpen(List<OpenTransaction> inner) {
			if (this.resource != null) {
				return boundResource(this.manager) == this.resource;
			}
			// Hidden by another manager's transaction, and not suspended by its own
			// manager
			return !this.hidden
					|| (!inner.isEmpty() && inner.stream().noneMatch((other) -> other.manager == this.manager));
		}

		/**
		 * Registers an action to run once when this transaction is complete.
		 * @param action what to do; it does not throw
		 */
		void afterCompletion(Runnable action) {
			if (this.hidden) {
				this.waiting.add(action);
			}
			else {
				TransactionSynchronizationManager.registerSynchronization(new Completion(action));
			}
		}

		/**
		 * Returns the order of the first callback, so the transaction counts as complete
		 * in those of others.
		 */
		@Override
		public int getOrder() {
			return HIGHEST_PRECEDENCE;
		}

		@Override
		public void suspend() {
			this.hidden = true;
		}

		@Override
		public void resume() {
			this.hidden = false;
			List<Runnable> actions = List.copyOf(this.waiting);
			this.waiting.clear();
			if (isOpen(List.of())) {
				actions.forEach(this::afterCompletion);
			}
			else {
				// It ended before a transaction inside of it, and Spring called nothing
				remove();
				actions.forEach(Runnable::run);
			}
		}

		@Override
		public void afterCompletion(int status) {
			remove();
		}

		private void remove() {
			List<OpenTransaction> incomplete = INCOMPLETE.get();
			if (incomplete != null) {
				incomplete.remove(this);
				if (incomplete.isEmpty()) {
					INCOMPLETE.remove();
				}
			}
		}

	}

	/**
	 * Runs an action among the callbacks without an order, which are called in the order
	 * of registration. Those that were registered before the lock was acquired therefore
	 * still run under it.
	 *
	 * @param action what to do
	 */
	record Completion(Runnable action) implements TransactionSynchronization {

		@Override
		public void afterCompletion(int status) {
			this.action.run();
		}

	}

}
