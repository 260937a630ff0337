package io.github.lockspring.test;

import org.springframework.context.ApplicationContext;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestExecutionListener;

/**
 * Resets the {@link LockTester} after each test method: contexts are shared by tests.
 */
class LockTesterTestExecutionListener implements TestExecutionListener {

	@Override
	public void afterTestMethod(TestContext test) {
		if (test.hasApplicationContext()) {
			ApplicationContext context = test.getApplicationContext();
			context.getBeanProvider(LockTester.class).ifAvailable(LockTester::reset);
		}
	}

}
