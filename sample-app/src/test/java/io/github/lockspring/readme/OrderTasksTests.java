package io.github.lockspring.readme;

import io.github.lockspring.LockCallback;
import io.github.lockspring.LockTemplate;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.mockito.ArgumentMatchers.any;
import static org.mockito.BDDMockito.given;
import static org.mockito.Mockito.mock;

/**
 * The example of a test without Spring.
 */
class OrderTasksTests {

	@Test
	void invoiceIsThatOfTheOrder() {
		LockTemplate locks = mock();
		given(locks.execute(any(), any())).willAnswer((call) -> {
			LockCallback<?, ?> work = call.getArgument(1);
			return work.doUnderLock(mock());
		});
		assertThat(new OrderTasks(locks).invoiceUnderLock(42)).isEqualTo("invoice of 42");
	}

}
