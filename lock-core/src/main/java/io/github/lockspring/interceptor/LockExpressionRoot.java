package io.github.lockspring.interceptor;

import java.lang.reflect.Method;

import org.jspecify.annotations.Nullable;

/**
 * What {@code #root} stands for in an expression.
 */
final class LockExpressionRoot {

	private final Method method;

	private final @Nullable Object target;

	private final @Nullable Object[] args;

	LockExpressionRoot(Method method, @Nullable Object target, @Nullable Object[] args) {
		this.method = method;
		this.target = target;
		this.args = args;
	}

	public Method getMethod() {
		return this.method;
	}

	public @Nullable Object getTarget() {
		return this.target;
	}

	public @Nullable Object[] getArgs() {
		return this.args;
	}

}
