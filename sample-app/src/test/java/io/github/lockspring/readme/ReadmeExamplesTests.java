package io.github.lockspring.readme;

import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.test.AutoConfigureDistributedLocks;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the README says of its examples.
 */
@SpringBootTest(properties = "distributed-lock.wait-time=100ms")
@AutoConfigureDistributedLocks
class ReadmeExamplesTests {

	@Autowired
	private OrderService orders;

	@Autowired
	private Programs programs;

	@Autowired
	private ReportJob job;

	@Autowired
	private LockTemplate locks;

	@Test
	void firstLockHasTheKeyOfTheOrder() {
		this.orders.ship(new Order(42, List.of()));
		assertThat(this.orders.held()).contains(List.of("42"));
	}

	@Test
	void annotationAndProgramWithOneNameAndKeyExcludeEachOther() {
		try (HeldLock lock = this.programs.tryWithoutWaiting(7).orElseThrow()) {
			assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.orders.cancel(7));
			this.orders.cancel(8);
		}
		this.orders.cancel(7);
	}

	@Test
	void keysWithDifferentNamesAreOneText() {
		this.orders.assign(1, 2);
		assertThat(this.orders.held())
			.anySatisfy((keys) -> assertThat(keys).containsExactlyInAnyOrder("order:1", "customer:2"));
		for (LockRequest one : List.of(LockRequest.of("order", 1), LockRequest.of("customer", 2))) {
			try (HeldLock lock = this.locks.acquire(one)) {
				assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.orders.assign(1, 2));
			}
		}
	}

	@Test
	void programsRunUnderTheirLocks() {
		assertThat(this.programs.invoiceUnderLock(42)).isEqualTo("invoice of 42 under [order:42]");
		assertThat(this.programs.assignUnderLocks()).contains("order:1", "customer:2");
		assertThat(this.programs.shipWithHandle()).isPositive();
		assertThat(this.programs.isTakenTwiceByOneThread()).isTrue();
	}

	@Test
	void currentLockHasTheTokenOfTheMethod() {
		assertThat(this.orders.invoice(new Order(43, List.of()))).isPositive();
	}

	@Test
	void jobIsSkippedWhileItsLockIsKept() {
		this.job.run();
		this.job.run();
		assertThat(this.job.runs()).isOne();
	}

}
