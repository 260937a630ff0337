package io.github.lockspring.interceptor;

import java.lang.reflect.Method;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Matches annotated methods. A class that has some is checked first, so that a wrong
 * annotation fails when the bean is made, however late that is.
 */
final class LockOperationSourcePointcut extends StaticMethodMatcherPointcut implements ClassFilter {

	private final LockClassRules rules;

	LockOperationSourcePointcut(LockClassRules rules) {
		this.rules = rules;
		setClassFilter(this);
	}

	@Override
	public boolean matches(Class<?> type) {
		return this.rules.check(type);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.rules.isLocked(method, targetClass);
	}

}
