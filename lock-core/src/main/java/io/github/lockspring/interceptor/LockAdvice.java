package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

import io.github.lockspring.LockDefinitionException;

import org.springframework.aop.Advisor;
import org.springframework.aop.Pointcut;
import org.springframework.aop.PointcutAdvisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopProxyUtils;

/**
 * How the advice of an annotated method is nested.
 *
 * @param operation the method's annotation, or the first of several
 * @param outside the advice that runs outside of the lock, outermost first
 * @param inside the advice that runs inside of it, outermost first
 */
public record LockAdvice(LockOperation operation, List<Advisor> outside, List<Advisor> inside) {

	/**
	 * The method as a person would look for it.
	 * @return its class, name and parameters
	 */
	public String method() {
		return this.operation.site().toString();
	}

	/**
	 * An error about the method.
	 * @param problem what is wrong, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @return the exception to throw
	 */
	public LockDefinitionException error(String problem, String remedy) {
		return this.operation.site().error("key", this.operation.key(), problem, remedy);
	}

	/**
	 * All advice of a bean, also of proxies behind a proxy.
	 * @param bean a bean
	 * @return its advisors, outermost first; none if it shows none
	 */
	static List<Advisor> allOf(Object bean) {
		List<Advisor> advisors = new ArrayList<>();
		Object current = bean;
		while (current instanceof Advised advised) {
			advisors.addAll(Arrays.asList(advised.getAdvisors()));
			current = AopProxyUtils.getSingletonTarget(current);
		}
		return advisors;
	}

	/**
	 * The advice of one method.
	 * @param operation its annotation
	 * @param advisors the advice of its bean
	 * @param lock the advisor among them that stands for the lock
	 * @return what of it applies to the method
	 */
	static LockAdvice of(LockOperation operation, List<Advisor> advisors, Advisor lock) {
		int position = advisors.indexOf(lock);
		return new LockAdvice(operation, applying(advisors.subList(0, position), operation),
				applying(advisors.subList(position + 1, advisors.size()), operation));
	}

	private static List<Advisor> applying(List<Advisor> advisors, LockOperation operation) {
		return advisors.stream().filter((advisor) -> applies(advisor, operation.method(), operation.type())).toList();
	}

	private static boolean applies(Advisor advisor, Method method, Class<?> type) {
		if (advisor instanceof PointcutAdvisor pointcutAdvisor) {
			Pointcut pointcut = pointcutAdvisor.getPointcut();
			return pointcut.getClassFilter().matches(type) && pointcut.getMethodMatcher().matches(method, type);
		}
		return false;
	}

}
