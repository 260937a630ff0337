package io.github.lockspring.test;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Resets the {@link LockTester} after each test method: contexts are shared by tests.
 */
class LockTesterTestExecutionListener implements TestExecutionListener, Ordered {

	/**
	 * After a test, listeners are called in the reverse order: this one when the test's
	 * transaction is complete (TransactionalTestExecutionListener, 4000), which may have
	 * locks, and before the context is closed (DirtiesContextTestExecutionListener,
	 * 3000).
	 */
	private static final int ORDER = 3500;

	@Override
	public int getOrder() {
		return ORDER;
	}

	@Override
	public void afterTestMethod(TestContext test) {
		if (test.hasApplicationContext()) {
			ApplicationContext context = test.getApplicationContext();
			context.getBeanProvider(LockTester.class).ifAvailable(LockTester::reset);
		}
	}

}
