package io.github.lockspring.internal.fencing;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Version;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.dao.OptimisticLockingFailureException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The guard in transactions of Hibernate, whose connection it shares.
 */
@TestInstance(Lifecycle.PER_CLASS)
class JpaFencingTests {

	private final List<ConfigurableApplicationContext> applications = new ArrayList<>();

	@BeforeAll
	void start() {
		for (Database database : List.of(Databases.h2(), Databases.postgres())) {
			this.applications.add(new SpringApplicationBuilder(Application.class).web(WebApplicationType.NONE)
				.properties("spring.datasource.url=" + database.url(), "spring.datasource.username=" + database.user(),
						"spring.jpa.hibernate.ddl-auto=create", "distributed-lock.store=memory",
						"distributed-lock.fencing.initialize-schema=always")
				.run());
		}
	}

	@AfterAll
	void stop() {
		this.applications.forEach(ConfigurableApplicationContext::close);
	}

	Stream<Shop> shops() {
		return this.applications.stream().map((application) -> application.getBean(Shop.class));
	}

	@ParameterizedTest
	@MethodSource("shops")
	void entityAndTokenAreWrittenTogetherOrNotAtAll(Shop shop) {
		shop.sell("together", 7, 1);
		assertThat(shop.fencingToken("together")).isEqualTo(7);
		assertThat(shop.find(1)).isNotNull();
		shop.transaction().executeWithoutResult((status) -> {
			shop.guard().check("together", 8);
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
			.isThrownBy(() -> shop.transaction().executeWithoutResult((status) -> {
				shop.entities().persist(new Sale(12));
				shop.guard().check("late", 6);
			}));
		assertThat(shop.find(12)).isNull();
		shop.sell("late", 7, 13);
		assertThat(shop.find(13)).isNotNull();
	}

	@ParameterizedTest
	@MethodSource("shops")
	@Tag("jpa-cache")
	void entityThatWasLoadedBeforeTheGuardWasCalledIsOldUntilItIsRefreshed(Shop shop) {
		shop.sell("view", 7, 31);
		shop.inView(() -> {
			assertThat(shop.entities().find(Sale.class, 31L).pieces).isZero();
			shop.sellMore(31, 5);
			shop.transaction().executeWithoutResult((status) -> {
				shop.guard().check("view", 8);
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
				.isThrownBy(() -> shop.transaction().executeWithoutResult((status) -> {
					shop.guard().check("version", 8);
					shop.entities().find(Sale.class, 41L).pieces += 1;
				}));
		});
		assertThat(shop.find(41)).isNotNull().extracting((sale) -> sale.pieces).isEqualTo(5);
	}

	@Configuration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	@EntityScan(basePackageClasses = JpaFencingTests.class)
	@Import(Shop.class)
	static class Application {

	}

	/**
	 * A database with entities.
	 */
	record Shop(JdbcTemplate jdbc, EntityManagerFactory factory, TransactionTemplate transaction, FencingGuard guard) {

		EntityManager entities() {
			return Objects.requireNonNull(EntityManagerFactoryUtils.getTransactionalEntityManager(this.factory));
		}

		void sell(String resource, long token, long id) {
			this.transaction.executeWithoutResult((status) -> {
				this.guard.check(resource, token);
				entities().persist(new Sale(id));
			});
		}

		/** Somebody else, in a transaction of their own. */
		void sellMore(long id, int pieces) {
			this.jdbc.update("UPDATE sale SET pieces = pieces + ?, version = version + 1 WHERE id = ?", pieces, id);
		}

		/** With one persistence context for all transactions, as open-in-view has. */
		void inView(Runnable work) {
			EntityManager entities = this.factory.createEntityManager();
			TransactionSynchronizationManager.bindResource(this.factory, new EntityManagerHolder(entities));
			try {
				work.run();
			}
			finally {
				TransactionSynchronizationManager.unbindResource(this.factory);
				entities.close();
			}
		}

		@Nullable Sale find(long id) {
			return this.transaction.execute((status) -> entities().find(Sale.class, id));
		}

		long fencingToken(String resource) {
			return Objects.requireNonNull(this.jdbc
				.queryForObject("SELECT fencing_token FROM lock_fence WHERE resource = ?", Long.class, resource));
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
