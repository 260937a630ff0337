package io.github.lockspring.test;

import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.test.annotation.Commit;
import org.springframework.test.context.transaction.AfterTransaction;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The tester in a test with a transaction.
 */
@SpringBootTest
@AutoConfigureDistributedLocks
@Transactional
class LockTesterTransactionTests {

	@Autowired
	private LockTester locks;

	@Autowired
	private TestApplication.Orders orders;

	@Autowired
	private Transactions transactions;

	@Test
	@Commit
	void lockLastsAsLongAsTheTransactionOfTheTest() {
		this.orders.ship("42");
		this.locks.assertHeld("order:42");
	}

	@AfterTransaction
	void transactionWasCommittedUnderItsLock() {
		assertThat(this.transactions.commits).isOne();
		this.locks.assertTaken("order:42").assertNotHeld("order:42");
	}

	@TestConfiguration(proxyBeanMethods = false)
	static class TransactionConfiguration {

		@Bean
		Transactions transactions() {
			return new Transactions();
		}

	}

	static class Transactions extends AbstractPlatformTransactionManager {

		private int commits;

		@Override
		protected Object doGetTransaction() {
			return new Object();
		}

		@Override
		protected void doBegin(Object transaction, TransactionDefinition definition) {
		}

		@Override
		protected void doCommit(DefaultTransactionStatus status) {
			this.commits++;
		}

		@Override
		protected void doRollback(DefaultTransactionStatus status) {
		}

	}

}
