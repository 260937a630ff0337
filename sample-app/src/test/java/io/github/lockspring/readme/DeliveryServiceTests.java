package io.github.lockspring.readme;

import io.github.lockspring.LockLostException;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.test.AutoConfigureDistributedLocks;
import io.github.lockspring.test.LockTester;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.mockito.ArgumentMatchers.anyLong;
import static org.mockito.BDDMockito.then;
import static org.mockito.BDDMockito.willAnswer;
import static org.mockito.Mockito.never;

/**
 * The example of a test of the whole application.
 */
@SpringBootTest
@AutoConfigureDistributedLocks
class DeliveryServiceTests {

	@Autowired
	private DeliveryService deliveries;

	@MockitoBean
	private LabelPrinter printer;

	@Autowired
	private LockTester locks;

	@Test
	void deliveryTakesTheLockOfItsOrder() {
		this.deliveries.deliver(42);
		this.locks.assertTaken("order:42").assertNotHeld("order:42");
	}

	@Test
	void nothingIsPrintedWhileLocksAreUnavailable() {
		this.locks.makeUnavailable("order:42");
		assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> this.deliveries.deliver(42));
		then(this.printer).should(never()).print(anyLong());
	}

	@Test
	void lossOfTheLockIsReported() {
		willAnswer((call) -> this.locks.lose("order:42")).given(this.printer).print(42);
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.deliveries.deliver(42));
	}

}
