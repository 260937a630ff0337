package io.github.lockspring.check;

import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * With the module for the tests of applications.
 */
@SpringBootTest
@AutoConfigureDistributedLocks
class TesterTests {

	@Autowired
	private Application.Orders orders;

	@Autowired
	private LockTester locks;

	@Test
	void testerMakesALockBusyOnce() {
		this.locks.makeBusy("order:42");
		assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> this.orders.ship(42, () -> "shipped"));
		assertThat(this.orders.ship(42, () -> "shipped")).isEqualTo("shipped");
		this.locks.assertTaken("order:42");
	}

}
