package io.github.lockspring.bank;

import io.github.lockspring.bank.Round.Moment;
import org.aspectj.lang.annotation.Aspect;
import org.aspectj.lang.annotation.Before;

import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The application of a branch: what Spring Boot makes of the class path, and the service.
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

		@Before("execution(* io.github.lockspring.bank.TransferService.transfer*(..)) && args(transfer)")
		void pass(Transfer transfer) {
			this.checkpoint.pass(Moment.BEFORE_TRANSACTION, transfer);
		}

	}

}
