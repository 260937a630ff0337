package io.github.lockspring.readme;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.List;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * What the README says of its examples.
 */
@SpringBootTest(properties = "distributed-lock.wait-time=100ms")
@AutoConfigureDistributedLocks
class ReadmeExamplesTests {

	@Autowired
	private OrderService orders;

	@Autowired
	private OrderTasks tasks;

	@Autowired
	private ReactiveTasks reactive;

	@Autowired
	private ReportJob job;

	@Autowired
	private AccountService accounts;

	@Autowired
	private ReportService reports;

	@Autowired
	private CheckoutService checkout;

	@Autowired
	private ShippingService shipping;

	@Autowired
	private FencedTasks fenced;

	@Autowired
	private TransactionTemplate transactions;

	@Autowired
	private LockTemplate locks;

	@Autowired
	private LockTester tester;

	@Test
	void firstLockHasTheKeyOfTheOrder() {
		this.orders.ship(new Order(42, List.of()));
		assertThat(this.orders.held()).contains(List.of("order:42"));
	}

	@Test
	void annotationOfYourOwnHasTheLockThatItNames() {
		this.orders.refund(47);
		this.tester.assertTaken("order:47");
	}

	@Test
	void annotationAndCodeWithOneNameAndKeyExcludeEachOther() {
		try (HeldLock lock = this.tasks.tryWithoutWaiting(7).orElseThrow()) {
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
	void collectionLocksEachOfItsKeys() {
		this.accounts.transfer(2, 1, BigDecimal.TEN);
		assertThat(this.tester.taken()).containsExactly("account:1", "account:2");
	}

	@Test
	void listOfObjectsLocksTheIdOfEach() {
		this.orders.shipAll(List.of(new Order(2, List.of("tea")), new Order(1, List.of())));
		assertThat(this.tester.taken()).containsExactly("order:1", "order:2");
		assertThatIllegalArgumentException().isThrownBy(() -> this.orders.shipAll(List.of()))
			.withMessageContaining("empty collection");
	}

	@Test
	void leasesOfDifferentLengths() {
		LocalDate day = LocalDate.of(2026, 11, 21);
		this.reports.write(day);
		this.reports.archive(day);
		this.reports.export(day);
		assertThat(this.tester.taken()).containsExactly("report:2026-11-21", "archive:2026-11-21", "export:2026-11-21");
	}

	@Test
	void lockInsideATransactionIsKeptUntilItsEnd() {
		Order order = new Order(1, List.of("tea", "cup"));
		this.transactions.executeWithoutResult((status) -> {
			this.checkout.checkOut(order);
			this.tester.assertHeld("stock:tea").assertHeld("stock:cup");
		});
		this.tester.assertNotHeld("stock:tea").assertNotHeld("stock:cup");
		this.checkout.place(order);
		this.tester.assertNotHeld("stock:tea").assertNotHeld("stock:cup");
	}

	@Test
	void fencedWorkRunsUnderItsLock() {
		this.shipping.ship(44);
		this.fenced.ship(45);
		this.tester.assertTaken("order:44").assertTaken("order:45");
	}

	@Test
	void tokenIsThatOfTheLockOfTheWork() {
		assertThat(this.tasks.tokenOf(48)).isPositive();
	}

	@Test
	void handleOfABusyLockIsEmpty() {
		assertThat(this.tasks.cancelUnlessBusy(46)).isTrue();
		this.tester.makeBusy("order:46");
		assertThat(this.tasks.cancelUnlessBusy(46)).isFalse();
	}

	@Test
	void tasksRunUnderTheirLocks() {
		assertThat(this.tasks.invoiceUnderLock(42)).isEqualTo("invoice of 42");
		this.tester.assertTaken("order:42");
		assertThat(this.tasks.assignUnderLocks()).contains("order:1", "customer:2");
		assertThat(this.tasks.shipWithHandle()).isPositive();
		assertThat(this.tasks.isTakenTwiceByOneThread()).isTrue();
	}

	@Test
	void reactiveWorkRunsUnderItsLock() {
		assertThat(this.reactive.invoice(49).block()).isEqualTo("49 under [order:49]");
		assertThat(this.reactive.send(49).block()).isEqualTo("held");
		this.tester.assertNotHeld("order:49");
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
