package io.github.lockspring.bank;

import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.annotation.DistributedLock;
import io.github.lockspring.annotation.Fenced;
import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.bank.Transfer.Step;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Moves money as an application would: both accounts are locked, both balances are read,
 * then written. Nothing but the locks keeps two transfers of the same account apart.
 */
class TransferService {

	private static final int LONGEST_THOUGHT = 6;

	private final JdbcTemplate jdbc;

	private final Checkpoint checkpoint;

	TransferService(JdbcTemplate jdbc, Checkpoint checkpoint) {
		this.jdbc = jdbc;
		this.checkpoint = checkpoint;
	}

	@DistributedLock(name = "account", key = "#transfer.accounts", ttl = "${bank.ttl}", renew = true)
	@Transactional
	public void transfer(Transfer transfer) {
		move(transfer);
	}

	@DistributedLock(name = "account", key = "#transfer.accounts", ttl = "${bank.ttl}", renew = true)
	@Transactional
	@Fenced
	public void transferFenced(Transfer transfer) {
		move(transfer);
	}

	private void move(Transfer transfer) {
		transfer.reach(Step.BEGUN);
		TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
			@Override
			public void afterCommit() {
				transfer.reach(Step.COMMITTED);
			}
		});
		long source = balance(transfer.source());
		long target = balance(transfer.target());
		this.checkpoint.pass(Moment.IN_SECTION, transfer);
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ThreadLocalRandom.current().nextInt(LONGEST_THOUGHT)));
		write(transfer.source(), source - transfer.amount());
		write(transfer.target(), target + transfer.amount());
		this.jdbc.update("INSERT INTO ledger (id, source, target, amount) VALUES (?, ?, ?, ?)", transfer.id(),
				transfer.source(), transfer.target(), transfer.amount());
	}

	private long balance(int account) {
		Long balance = this.jdbc.queryForObject("SELECT balance FROM accounts WHERE id = ?", Long.class, account);
		if (balance == null) {
			throw new IllegalStateException("No account " + account);
		}
		return balance;
	}

	private void write(int account, long balance) {
		this.jdbc.update("UPDATE accounts SET balance = ? WHERE id = ?", balance, account);
	}

}
