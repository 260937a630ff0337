package io.github.lockspring.fencing;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Records which resources the unfinished transactions of each thread have fenced. A
 * transaction would wait forever for a row locked by a suspended transaction of the same
 * thread, and no database detects this.
 * <p>
 * The row of a recorded resource is not always locked: a rollback to a savepoint releases
 * row locks without notice.
 */
/*
 * For maintainers: a thread's list has one element for each transaction that has fenced
 * something. An element is identified by the connection's holder, which is a different
 * object inside REQUIRES_NEW and the same one inside NESTED, even if other code suspends
 * the synchronizations. Only the thread itself adds elements. Any thread may remove one,
 * since a JTA manager may complete on another thread. The thread-local is removed with
 * the last element.
 */
final class FencedResources {

	private final ThreadLocal<@Nullable List<Transaction>> current = new ThreadLocal<>();

	/**
	 * Records that the current transaction is about to lock a row.
	 * @param connection the connection holder, which identifies the transaction
	 * @param resource the resource to fence
	 * @throws IllegalStateException if a suspended transaction of this thread has fenced
	 * it
	 */
	void add(Object connection, String resource) {
		List<Transaction> transactions = this.current.get();
		Transaction own = null;
		if (transactions == null) {
			transactions = new CopyOnWriteArrayList<>();
		}
		for (Transaction transaction : transactions) {
			if (transaction.connection == connection) {
				own = transaction;
			}
			else if (transaction.resources.contains(resource)) {
				throw new IllegalStateException("'" + resource + "' is already fenced by a transaction that is"
						+ " suspended on this thread, and this one (REQUIRES_NEW?) would wait for it without end."
						+ " Let the inner work join it (REQUIRED, NESTED), let it run before or after,"
						+ " or fence it under a key of its own");
			}
		}
		if (own == null) {
			own = new Transaction(connection, transactions);
			TransactionSynchronizationManager.registerSynchronization(own);
			transactions.add(own);
			this.current.set(transactions);
		}
		own.resources.add(resource);
	}

	private final class Transaction implements TransactionSynchronization {

		private final Object connection;

		private final List<Transaction> all;

		private final Set<String> resources = new HashSet<>();

		Transaction(Object connection, List<Transaction> all) {
			this.connection = connection;
			this.all = all;
		}

		@Override
		public void afterCompletion(int status) {
			this.all.remove(this);
			if (this.all.isEmpty() && FencedResources.this.current.get() == this.all) {
				FencedResources.this.current.remove();
			}
		}

	}

}
