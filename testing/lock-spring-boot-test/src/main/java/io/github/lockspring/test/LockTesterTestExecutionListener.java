package io.github.lockspring.test;

import org.springframework.context.ApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.test.context.TestContext;
import org.springframework.test.context.TestContextAnnotationUtils;
import org.springframework.test.context.TestExecutionListener;
import org.springframework.util.ReflectionUtils;

/**
 * Resets the {@link LockTester} after each test method, since tests share contexts.
 * Reports a missing annotation if a test has a field for the tester, but no such bean.
 */
class LockTesterTestExecutionListener implements TestExecutionListener, Ordered {

	/**
	 * After a test, listeners are called in reverse order: this one after the test's
	 * transaction, which may hold locks (TransactionalTestExecutionListener, 4000), and
	 * before the context is closed (DirtiesContextTestExecutionListener, 3000).
	 */
	private static final int ORDER = 3500;

	@Override
	public int getOrder() {
		return ORDER;
	}

	/* Before injection, which would fail with an unhelpful message */
	@Override
	public void beforeTestClass(TestContext test) {
		if (!TestContextAnnotationUtils.hasAnnotation(test.getTestClass(), AutoConfigureDistributedLocks.class)) {
			ReflectionUtils.doWithFields(test.getTestClass(), (field) -> {
				throw new IllegalStateException("There is no LockTester for the field '" + field.getName() + "' of "
						+ field.getDeclaringClass().getName() + ". Add @AutoConfigureDistributedLocks to the test");
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
