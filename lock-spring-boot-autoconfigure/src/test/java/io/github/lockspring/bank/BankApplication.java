package io.github.lockspring.bank;

import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.bank.BankApplication.Transfer.Step;
import io.github.lockspring.bank.Round.Moment;
import io.github.lockspring.testsupport.process.Conversation;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * The application of a branch: what Spring Boot configures, and a service that moves
 * money.
 */
@Configuration(proxyBeanMethods = false)
@EnableAutoConfiguration(
		excludeName = { "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
				"org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration" })
class BankApplication {

	@Bean
	TransferService transferService(JdbcTemplate jdbc, Checkpoint checkpoint) {
		return new TransferService(jdbc, checkpoint);
	}

	@Bean
	BeforeTransaction beforeTransaction(Checkpoint checkpoint) {
		return new BeforeTransaction(checkpoint);
	}

	/** Between the advice of the lock and that of the transaction. */
	@Aspect
	@Order(Ordered.LOWEST_PRECEDENCE - 50)
	static class BeforeTransaction {

		private final Checkpoint checkpoint;

		BeforeTransaction(Checkpoint checkpoint) {
			this.checkpoint = checkpoint;
		}

		@Before("execution(* *..TransferService.transfer*(..)) && args(transfer)")
		void pass(Transfer transfer) {
			this.checkpoint.pass(Moment.BEFORE_TRANSACTION, transfer);
		}

	}

	/**
	 * Moves money as an application would: both accounts are locked, both balances are
	 * read, then written. Nothing but the locks keeps two transfers of the same account
	 * apart.
	 */
	static class TransferService {

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
			return Objects.requireNonNull(
					this.jdbc.queryForObject("SELECT balance FROM accounts WHERE id = ?", Long.class, account));
		}

		private void write(int account, long balance) {
			this.jdbc.update("UPDATE accounts SET balance = ? WHERE id = ?", balance, account);
		}

	}

	/**
	 * An order to move money from one account to another, and how far it came. Used by
	 * one thread.
	 *
	 * @param id its name in the ledger
	 * @param source the account that pays
	 * @param target the account that receives
	 * @param amount how much
	 * @param steps how far it came
	 */
	record Transfer(String id, int source, int target, long amount, Set<Step> steps) {

		/**
		 * What a transfer may have reached.
		 */
		enum Step {

			/** The work began, in its transaction. */
			BEGUN,
			/** The transaction was committed. */
			COMMITTED,
			/** The transfer was held up by the test. */
			DETAINED

		}

		Transfer(String id, int source, int target, long amount) {
			this(id, source, target, amount, EnumSet.noneOf(Step.class));
		}

		/** What is locked, for the annotation. */
		public List<Integer> getAccounts() {
			return List.of(this.source, this.target);
		}

		void reach(Step step) {
			this.steps.add(step);
		}

		boolean has(Step step) {
			return this.steps.contains(step);
		}

	}

	/**
	 * Holds one transfer up at a given moment until it is told to go on. All threads of a
	 * worker pass it; the thread that talks with the test says when.
	 */
	static final class Checkpoint {

		static final String DETAINED = "detained";

		private final AtomicReference<@Nullable Moment> wanted = new AtomicReference<>();

		private final Conversation test;

		private volatile CountDownLatch barrier = new CountDownLatch(0);

		Checkpoint(Conversation test) {
			this.test = test;
		}

		void detain(Moment moment) {
			this.barrier = new CountDownLatch(1);
			this.wanted.set(moment);
		}

		void free() {
			this.wanted.set(null);
			this.barrier.countDown();
		}

		void pass(Moment moment, Transfer transfer) {
			if (this.wanted.get() == moment && this.wanted.compareAndSet(moment, null)) {
				transfer.reach(Step.DETAINED);
				this.test.say(DETAINED + " " + transfer.source() + " " + transfer.target());
				try {
					if (!this.barrier.await(1, TimeUnit.MINUTES)) {
						throw new IllegalStateException("Forgotten at the checkpoint");
					}
				}
				catch (InterruptedException ex) {
					throw new IllegalStateException(ex);
				}
			}
		}

	}

}
