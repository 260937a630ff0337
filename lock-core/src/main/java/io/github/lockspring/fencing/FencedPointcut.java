package io.github.lockspring.fencing;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.fencing.FencedMethods.FencedMethod;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.util.ClassUtils;

/**
 * Matches fenced methods. The class is checked first, so that an annotation that could
 * not take effect stops the bean from being made. Thread-safe.
 */
final class FencedPointcut extends StaticMethodMatcherPointcut implements ClassFilter {

	private final Map<Class<?>, Boolean> checked = new ConcurrentHashMap<>();

	private final FencedMethods methods;

	FencedPointcut(FencedMethods methods) {
		this.methods = methods;
		setClassFilter(this);
	}

	FencedMethods methods() {
		return this.methods;
	}

	@Override
	public boolean matches(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		Boolean known = this.checked.get(userClass);
		if (known == null) {
			known = check(userClass);
			this.checked.put(userClass, known);
		}
		return known;
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.find(method, targetClass) != null;
	}

	private boolean check(Class<?> userClass) {
		boolean found = false;
		for (FencedMethod method : this.methods.all(userClass)) {
			found = true;
			if (!Proxy.isProxyClass(userClass)) {
				checkReachable(method, userClass);
			}
		}
		return found;
	}

	private static void checkReachable(FencedMethod method, Class<?> userClass) {
		int modifiers = method.method().getModifiers();
		if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
			throw error(method,
					"a " + (Modifier.isStatic(modifiers) ? "static" : "private")
							+ " method is never called through a proxy, and would not be fenced",
					"Make it a public method of a bean, or ask a FencingGuard inside it");
		}
		if (FencedMethods.declarations(method.method(), userClass).isEmpty()) {
			if (Modifier.isFinal(modifiers)) {
				throw error(method, "no proxy can override a final method, and it would not be fenced",
						"Remove final from the method");
			}
			if (Modifier.isFinal(userClass.getModifiers())) {
				throw error(method, "no proxy can extend a final class", "Remove final from the class");
			}
		}
	}

	static LockDefinitionException error(FencedMethod method, String problem, String remedy) {
		return FencingGuards.error(method, problem, remedy, null);
	}

}
