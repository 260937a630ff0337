package io.github.lockspring.benchmarks.micro;

import java.lang.reflect.Method;

import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.StaticMethodMatcherPointcut;

/**
 * Does nothing around {@link OrderService#plain}: what is left is Spring's proxy.
 */
final class NoOpAdvice extends StaticMethodMatcherPointcut implements MethodInterceptor {

	static Advisor advisor() {
		NoOpAdvice advice = new NoOpAdvice();
		return new DefaultPointcutAdvisor(advice, advice);
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return targetClass == OrderService.class && method.getName().equals("plain");
	}

	@Override
	public @Nullable Object invoke(MethodInvocation invocation) throws Throwable {
		return invocation.proceed();
	}

}
