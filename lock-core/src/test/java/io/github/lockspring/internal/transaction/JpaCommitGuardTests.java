package io.github.lockspring.internal.transaction;

import java.time.Duration;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The guard in transactions of Hibernate, which writes when they commit.
 */
class JpaCommitGuardTests {

	private final Bank bank = new Bank();

	private final LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();

	private TransactionTemplate transaction;

	private EntityManager entities;

	@BeforeEach
	void start() {
		HibernateJpaVendorAdapter hibernate = new HibernateJpaVendorAdapter();
		hibernate.setGenerateDdl(true);
		this.factory.setDataSource(this.bank.dataSource);
		this.factory.setJpaVendorAdapter(hibernate);
		this.factory.setPackagesToScan(JpaCommitGuardTests.class.getPackageName());
		this.factory.afterPropertiesSet();
		EntityManagerFactory entityManagers = this.factory.getObject();
		assertThat(entityManagers).isNotNull();
		JpaTransactionManager transactions = new JpaTransactionManager(entityManagers);
		transactions.addListener(new CommitGuard(() -> Verification.LOCAL, (lock) -> {
		}));
		this.transaction = new TransactionTemplate(transactions);
		this.entities = SharedEntityManagerCreator.createSharedEntityManager(entityManagers);
	}

	@AfterEach
	void stop() {
		this.factory.destroy();
		this.bank.close();
	}

	@Test
	void f03EntitiesAreNotFlushedOnceTheLockIsLost() {
		LockRequest request = LockRequest.of("a").ttl(Duration.ofMillis(100)).renew(false);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.bank.locks
			.executeWithoutResult(request, (lock) -> this.transaction.executeWithoutResult((status) -> {
				this.entities.persist(new Payment(1));
				await().until(() -> !lock.isHeld());
			})));
		assertThat(this.entities.find(Payment.class, 1)).isNull();
		this.bank.locks.executeWithoutResult(LockRequest.of("a"),
				(lock) -> this.transaction.executeWithoutResult((status) -> this.entities.persist(new Payment(2))));
		assertThat(this.entities.find(Payment.class, 2)).isNotNull();
	}

	/**
	 * Something that is paid.
	 */
	@Entity
	static class Payment {

		@Id
		private int id;

		protected Payment() {
		}

		Payment(int id) {
			this.id = id;
		}

	}

}
