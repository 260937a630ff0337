package io.github.lockspring.internal.interceptor;

import java.util.List;

import io.github.lockspring.LockDefinitionException;

import org.springframework.aop.Advisor;
import org.springframework.aop.PointcutAdvisor;

/**
 * Shows how the advice of an annotated method is nested.
 *
 * @param operation the method's annotation
 * @param outside the advice that runs outside of the lock, outermost first
 * @param inside the advice that runs inside of it, outermost first
 * @since 0.1
 */
public record AdvisorChain(LockOperation operation, List<Advisor> outside, List<Advisor> inside) {

	/**
	 * Returns the method as one would search for it.
	 * @return its class, name and parameters
	 */
	public String method() {
		return this.operation.annotated().toString();
	}

	/**
	 * Creates an error about the method.
	 * @param problem what is wrong, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @return the exception to throw
	 */
	public LockDefinitionException error(String problem, String remedy) {
		return this.operation.error(problem, remedy);
	}

	/**
	 * Selects the advice that applies to one method.
	 * @param operation its annotation
	 * @param advisors the advice of its bean
	 * @param lock the advisor among them that takes the lock
	 * @return the chain of the method
	 */
	static AdvisorChain of(LockOperation operation, List<Advisor> advisors, Advisor lock) {
		int position = advisors.indexOf(lock);
		return new AdvisorChain(operation, applying(advisors.subList(0, position), operation),
				applying(advisors.subList(position + 1, advisors.size()), operation));
	}

	private static List<Advisor> applying(List<Advisor> advisors, LockOperation operation) {
		return advisors.stream()
			.filter((advisor) -> advisor instanceof PointcutAdvisor pointcutAdvisor
					&& pointcutAdvisor.getPointcut().getClassFilter().matches(operation.type())
					&& pointcutAdvisor.getPointcut().getMethodMatcher().matches(operation.method(), operation.type()))
			.toList();
	}

}
