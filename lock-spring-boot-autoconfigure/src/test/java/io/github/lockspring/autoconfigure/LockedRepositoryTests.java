package io.github.lockspring.autoconfigure;

import java.util.Optional;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.interceptor.LockInterceptor;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.persistence.autoconfigure.EntityScan;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.JpaRepository;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Annotated methods of a repository of Spring Data.
 */
class LockedRepositoryTests {

	private final ApplicationContextRunner runner = Applications.inMemory()
		.withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class, TransactionAutoConfiguration.class,
				HibernateJpaAutoConfiguration.class))
		.withUserConfiguration(JpaConfiguration.class)
		.withPropertyValues("spring.datasource.generate-unique-name=true", "spring.jpa.hibernate.ddl-auto=create");

	@Test
	void methodOfSpringDataIsLocked() {
		this.runner.run((context) -> {
			Parcels parcels = context.getBean(Parcels.class);
			assertThat(parcels.findById(7L)).isEmpty();
			HeldLock other = context.getBean(LockTemplate.class).acquire(LockRequest.of("parcel:7"));
			parcels.save(new Parcel(7));
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> parcels.findById(7L))
				.withMessageContaining("'parcel:7'");
			other.close();
			assertThat(parcels.findById(7L)).map((parcel) -> parcel.id).contains(7L);
			assertThat(context.getBean(LockInterceptor.class).lockNames()).containsExactly("parcel");
		});
	}

	@Configuration(proxyBeanMethods = false)
	@EnableJpaRepositories(considerNestedRepositories = true, basePackageClasses = LockedRepositoryTests.class)
	@EntityScan(basePackageClasses = LockedRepositoryTests.class)
	static class JpaConfiguration {

	}

	interface Parcels extends JpaRepository<Parcel, Long> {

		@Override
		@DistributedLock(name = "parcel", key = "#id", waitTime = "0s")
		Optional<Parcel> findById(Long id);

	}

	@Entity(name = "parcel")
	static class Parcel {

		@Id
		private long id;

		Parcel() {
		}

		Parcel(long id) {
			this.id = id;
		}

	}

}
