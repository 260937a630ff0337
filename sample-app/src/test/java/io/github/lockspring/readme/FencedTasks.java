package io.github.lockspring.readme;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;

import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Fencing without the annotation.
 */
@Component
public class FencedTasks {

	private final LockTemplate locks;

	private final TransactionTemplate transactions;

	private final FencingGuard guard;

	FencedTasks(LockTemplate locks, TransactionTemplate transactions, FencingGuard guard) {
		this.locks = locks;
		this.transactions = transactions;
		this.guard = guard;
	}

	void ship(long id) {
		this.locks.executeWithoutResult(LockRequest.of("order", id), (lock) -> {
			this.transactions.executeWithoutResult((status) -> {
				this.guard.check(lock);
				// read and write here
			});
		});
	}

}
