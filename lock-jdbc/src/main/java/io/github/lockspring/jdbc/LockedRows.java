package io.github.lockspring.jdbc;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * What the unfinished transactions of each thread have fenced. A transaction that waits
 * for a row of one that is suspended on the same thread would wait for itself, and no
 * database sees that.
 * <p>
 * This says what may be locked, never what is: a savepoint that was rolled back has given
 * its row locks back, and is not noticed here.
 */
/*
 * For maintainers: a thread's list holds one element for each of its transactions that
 * has fenced something. Elements are told apart by the connection's holder, which is
 * another one inside REQUIRES_NEW and the same one inside NESTED, whoever suspends the
 * synchronizations. Only the thread itself adds; a JTA manager may complete on another
 * thread, so that the list is one that any thread may remove from. The thread-local goes
 * with the last element.
 */
final class LockedRows {

	private final ThreadLocal<@Nullable List<Transaction>> current = new ThreadLocal<>();

	/**
	 * Notes that the present transaction is about to lock a row.
	 * @param connection stands for the present transaction
	 * @param resource what is to be fenced
	 * @throws IllegalStateException if a suspended transaction has done so
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
						+ " suspended on this thread, and that this one (REQUIRES_NEW?) would wait for without end."
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
			if (this.all.isEmpty() && LockedRows.this.current.get() == this.all) {
				LockedRows.this.current.remove();
			}
		}

	}

}
