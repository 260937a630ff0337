package io.github.lockspring.test;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;
import org.springframework.util.ReflectionUtils;

/**
 * Resets the {@link LockTester} after each test method, since contexts are shared by
 * tests; and tells a test that has none what it lacks.
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

	/* Before fields are injected, which fails with a message that does not help */
	@Override
	public void beforeTestClass(TestContext test) {
		if (!TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), AutoConfigureDistributedLocks.class)) {
			ReflectionUtils.doWithFields(test.getTestClass(), (field) -> {
				throw new IllegalStateException("There is no LockTester for the field '" + field.getName() + "' of "
						+ field.getDeclaringClass().getName()
						+ ": locks are as in the application. Add @AutoConfigureDistributedLocks to the test");
			}, (field) -> field.getType() == LockTester.class);
		}
	}

	@Override
	public void afterTestMethod(TestContext test) {
		if (test.hasApplicationContext()) {
			ApplicationContext context = test.getApplicationContext();
			context.getBeanProvider(LockTester.class).ifAvailable(LockTester::reset);
		}
	}

}
