package io.github.lockspring.test;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The tester in a whole application.
 */
@SpringBootTest
@AutoConfigureDistributedLocks
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class LockTesterTests {

	@Autowired
	private LockTester locks;

	@Autowired
	private TestApplication.Orders orders;

	@Autowired
	private TestApplication.Jobs jobs;

	@Autowired
	private LockTemplate template;

	@BeforeEach
	void doNothing() {
		this.orders.work(() -> {
		});
	}

	@Test
	void lockIsHeldDuringTheMethodAndWasTakenAfterIt() {
		this.orders.work(() -> this.locks.assertHeld("order:42").assertNotHeld("order:43"));
		this.orders.ship("42");
		this.locks.assertTaken("order:42").assertNotTaken("order:43").assertNotHeld("order:42");
		assertThat(this.locks.taken()).containsExactly("order:42");
	}

	@Test
	void wrongAssertionsFailAndSayWhatWasTaken() {
		this.orders.ship("42");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.locks.assertTaken("order:43"))
			.withMessage("Lock 'order:43' should have been acquired, but was not. Acquired in this test: [order:42]");
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.locks.assertNotTaken("order:42"));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.locks.assertHeld("order:42"));
		assertThatExceptionOfType(AssertionError.class).isThrownBy(() -> this.locks.lose("order:42"));
		this.orders.work(() -> assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> this.locks.assertNotHeld("order:42")));
		this.orders.ship("42");
	}

	@Test
	void nextRequestIsBusyOnce() {
		this.locks.makeBusy("order:42").makeBusy("job");
		this.orders.ship("43");
		assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> this.orders.ship("42"));
		this.orders.ship("42");
		assertThat(this.jobs.run("job")).isFalse();
		assertThat(this.jobs.run("job")).isTrue();
		assertThat(this.locks.taken()).containsExactly("order:43", "order:42", "job");
	}

	@Test
	void nextRequestIsUnavailableOnce() {
		this.locks.makeUnavailable("order:42");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.orders.ship("42"));
		this.orders.ship("42");
	}

	@Test
	void heldLockIsLost() {
		this.orders.work(() -> this.locks.lose("order:42").assertNotHeld("order:42"));
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.orders.ship("42"));
	}

	@Test
	@Order(1)
	void leavesALockAndAFailureBehind() {
		HeldLock left = this.template.acquire(LockRequest.of("order:left"));
		assertThat(left.isHeld()).isTrue();
		this.locks.makeBusy("order:42");
	}

	@Test
	@Order(2)
	void startsWithoutWhatAnEarlierTestHasLeftBehind() {
		assertThat(this.locks.taken()).isEmpty();
		this.locks.assertNotHeld("order:left");
		this.orders.ship("left");
		this.orders.ship("42");
	}

}
