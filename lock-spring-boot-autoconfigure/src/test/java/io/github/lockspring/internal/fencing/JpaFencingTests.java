package io.github.lockspring.internal.fencing;

import java.util.Map;
import java.util.stream.Stream;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Version;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.LocalContainerEntityManagerFactoryBean;
import org.springframework.orm.jpa.vendor.HibernateJpaVendorAdapter;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * The guard in transactions of Hibernate, whose connection it shares.
 */
@TestInstance(Lifecycle.PER_CLASS)
class JpaFencingTests {

	private Map<String, Shop> shops = Map.of();

	@BeforeAll
	void start() {
		this.shops = Map.of("h2", new Shop(Databases.h2()), "postgresql", new Shop(Databases.postgres()));
	}

	@AfterAll
	void stop() {
		this.shops.values().forEach((shop) -> shop.factory.destroy());
	}

	Stream<Shop> shops() {
		return this.shops.values().stream();
	}

	@ParameterizedTest
	@MethodSource("shops")
	void entityAndTokenAreWrittenTogetherOrNotAtAll(Shop shop) {
		shop.sell("together", 7, 1);
		assertThat(shop.fencingToken("together")).isEqualTo(7);
		assertThat(shop.find(1)).isNotNull();
		shop.transaction.executeWithoutResult((status) -> {
			shop.guard.check("together", 8);
			shop.entities().persist(new Sale(2));
			shop.entities().flush();
			status.setRollbackOnly();
		});
		assertThat(shop.fencingToken("together")).isEqualTo(7);
		assertThat(shop.find(2)).isNull();
	}

	@ParameterizedTest
	@MethodSource("shops")
	void f03LateWriterIsRefusedAndItsEntitiesAreNotFlushed(Shop shop) {
		shop.sell("late", 7, 11);
		assertThatExceptionOfType(StaleFencingTokenException.class)
			.isThrownBy(() -> shop.transaction.executeWithoutResult((status) -> {
				shop.entities().persist(new Sale(12));
				shop.guard.check("late", 6);
			}));
		assertThat(shop.find(12)).isNull();
		shop.sell("late", 7, 13);
		assertThat(shop.find(13)).isNotNull();
	}

	@ParameterizedTest
	@MethodSource("shops")
	void checkCostsOneStatementOnTheConnectionOfTheEntityManager(Shop shop) {
		shop.sell("one", 7, 21);
		shop.dataSource.statements().clear();
		shop.sell("one", 8, 22);
		assertThat(shop.dataSource.statements()).hasSize(2).first().asString().startsWith("UPDATE lock_fence");
		assertThat(shop.dataSource.statements()).last().asString().startsWith("insert into");
	}

	@ParameterizedTest
	@MethodSource("shops")
	void newTransactionThatWouldWaitForItsOwnThreadIsRefused(Shop shop) {
		shop.transaction.executeWithoutResult((status) -> {
			shop.guard.check("new", 1);
			assertThatIllegalStateException().isThrownBy(() -> {
				TransactionTemplate inner = new TransactionTemplate(shop.transactions);
				inner.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
				inner.executeWithoutResult((also) -> shop.guard.check("new", 1));
			}).withMessageContaining("REQUIRES_NEW");
		});
	}

	@ParameterizedTest
	@MethodSource("shops")
	@Tag("jpa-cache")
	void entityThatWasLoadedBeforeTheGuardWasCalledIsOldUntilItIsRefreshed(Shop shop) {
		shop.sell("view", 7, 31);
		shop.inView(() -> {
			assertThat(shop.entities().find(Sale.class, 31L).pieces).isZero();
			shop.sellMore(31, 5);
			shop.transaction.executeWithoutResult((status) -> {
				shop.guard.check("view", 8);
				Sale sale = shop.entities().find(Sale.class, 31L);
				assertThat(sale.pieces).isZero();
				shop.entities().refresh(sale);
				assertThat(sale.pieces).isEqualTo(5);
			});
		});
	}

	@ParameterizedTest
	@MethodSource("shops")
	@Tag("jpa-cache")
	void entityWithAVersionThatWasLoadedBeforeTheGuardWasCalledIsNotWritten(Shop shop) {
		shop.sell("version", 7, 41);
		shop.inView(() -> {
			assertThat(shop.entities().find(Sale.class, 41L).pieces).isZero();
			shop.sellMore(41, 5);
			assertThatExceptionOfType(OptimisticLockingFailureException.class)
				.isThrownBy(() -> shop.transaction.executeWithoutResult((status) -> {
					shop.guard.check("version", 8);
					shop.entities().find(Sale.class, 41L).pieces += 1;
				}));
		});
		assertThat(shop.find(41)).isNotNull().extracting((sale) -> sale.pieces).isEqualTo(5);
	}

	/**
	 * A database with entities.
	 */
	static final class Shop {

		final String platform;

		final RecordingDataSource dataSource;

		final LocalContainerEntityManagerFactoryBean factory = new LocalContainerEntityManagerFactoryBean();

		final JpaTransactionManager transactions;

		final TransactionTemplate transaction;

		final FencingGuard guard;

		Shop(Database database) {
			this.platform = database.withFencingTokens().platform();
			this.dataSource = new RecordingDataSource(database.dataSource());
			HibernateJpaVendorAdapter hibernate = new HibernateJpaVendorAdapter();
			hibernate.setGenerateDdl(true);
			this.factory.setDataSource(this.dataSource);
			this.factory.setJpaVendorAdapter(hibernate);
			this.factory.setPackagesToScan(JpaFencingTests.class.getPackageName());
			this.factory.afterPropertiesSet();
			this.transactions = new JpaTransactionManager(entityManagers());
			this.transaction = new TransactionTemplate(this.transactions);
			this.guard = new JdbcFencingGuard(this.dataSource);
		}

		EntityManagerFactory entityManagers() {
			EntityManagerFactory entityManagers = this.factory.getObject();
			assertThat(entityManagers).isNotNull();
			return entityManagers;
		}

		EntityManager entities() {
			EntityManager entities = EntityManagerFactoryUtils.getTransactionalEntityManager(entityManagers());
			assertThat(entities).isNotNull();
			return entities;
		}

		void sell(String resource, long token, long id) {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.check(resource, token);
				entities().persist(new Sale(id));
			});
		}

		/** Somebody else, in a transaction of their own. */
		void sellMore(long id, int pieces) {
			new JdbcTemplate(this.dataSource)
				.update("UPDATE sale SET pieces = pieces + ?, version = version + 1 WHERE id = ?", pieces, id);
		}

		/** With one persistence context for all transactions, as open-in-view has. */
		void inView(Runnable work) {
			EntityManager entities = entityManagers().createEntityManager();
			TransactionSynchronizationManager.bindResource(entityManagers(), new EntityManagerHolder(entities));
			try {
				work.run();
			}
			finally {
				TransactionSynchronizationManager.unbindResource(entityManagers());
				entities.close();
			}
		}

		@Nullable Sale find(long id) {
			return this.transaction.execute((status) -> entities().find(Sale.class, id));
		}

		long fencingToken(String resource) {
			Long fencingToken = new JdbcTemplate(this.dataSource)
				.queryForObject("SELECT fencing_token FROM lock_fence WHERE resource = ?", Long.class, resource);
			return (fencingToken != null) ? fencingToken : 0;
		}

		@Override
		public String toString() {
			return this.platform;
		}

	}

	/**
	 * Something to write.
	 */
	@Entity(name = "Sale")
	static class Sale {

		@Id
		private long id;

		@Version
		private long version;

		private int pieces;

		Sale() {
		}

		Sale(long id) {
			this.id = id;
		}

	}

}
