package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.LockDefinitionException;

import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Checks all that can be known about the annotations of a class.
 * <p>
 * Thread-safe; a class is checked once unless two threads ask for it at the same time.
 */
final class LockClassRules {

	private final Map<Class<?>, Boolean> checked = new ConcurrentHashMap<>();

	private final LockedMethods methods;

	LockClassRules(LockedMethods methods) {
		this.methods = methods;
	}

	LockOperationSource source() {
		return this.methods.source();
	}

	boolean isLocked(Method method, Class<?> targetClass) {
		return !source().getLockOperations(method, targetClass).isEmpty();
	}

	/**
	 * Checks a class.
	 * @param type a bean's class
	 * @return whether it has annotated methods
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	boolean check(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		Boolean known = this.checked.get(userClass);
		if (known == null) {
			known = source().isCandidateClass(userClass) && checkMethods(userClass);
			this.checked.put(userClass, known);
		}
		return known;
	}

	private boolean checkMethods(Class<?> userClass) {
		Set<Method> locked = lockedMethods(userClass);
		for (Method method : locked) {
			checkReachable(method, userClass);
			this.methods.get(method, userClass);
		}
		return !locked.isEmpty();
	}

	/**
	 * The methods of a class that are to run under a lock.
	 * @param userClass a bean's class
	 * @return its methods, inherited ones and those of interfaces included
	 */
	Set<Method> lockedMethods(Class<?> userClass) {
		Set<Method> locked = new LinkedHashSet<>();
		for (Class<?> type : AnnotationLockOperationSource.hierarchy(userClass)) {
			if (Proxy.isProxyClass(type)) {
				continue;
			}
			for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
				if (method.isBridge() || method.isSynthetic()) {
					continue;
				}
				if (isHidden(method)) {
					if (AnnotationLockOperationSource.isLocked(MergedAnnotations.from(method))) {
						locked.add(method);
					}
				}
				else if (isLocked(method, userClass)) {
					locked.add(AnnotationLockOperationSource.specificMethod(method, userClass));
				}
			}
		}
		return locked;
	}

	Method anyLockedMethod(Class<?> userClass) {
		return lockedMethods(userClass).iterator().next();
	}

	private static boolean isHidden(Method method) {
		return Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers());
	}

	private void checkReachable(Method method, Class<?> userClass) {
		if (isHidden(method)) {
			String kind = Modifier.isStatic(method.getModifiers()) ? "static" : "private";
			throw error(method, userClass,
					"a " + kind + " method is never called through a proxy, and would run without the lock",
					"Make it a public method of a bean, or use LockTemplate inside it");
		}
		// The class of a JDK proxy is final, and so are its methods
		if (Proxy.isProxyClass(userClass)) {
			return;
		}
		boolean onInterface = !AnnotationLockOperationSource.declarationsOnInterfaces(method, userClass).isEmpty();
		if (Modifier.isFinal(method.getModifiers()) && !onInterface) {
			throw error(method, userClass, "no proxy can override a final method, and it would run without the lock",
					"Remove final from the method");
		}
		if (Modifier.isFinal(userClass.getModifiers())
				&& (!onInterface || this.methods.container().usesClassProxies())) {
			throw error(method, userClass, "no proxy can extend a final class", (onInterface)
					? "Remove final from the class, or use interface proxies (spring.aop.proxy-target-class=false)"
					: "Remove final from the class, or declare the method on an interface");
		}
	}

	/**
	 * An error about a method as a whole; its key tells which annotation is meant.
	 * @param method the method
	 * @param userClass the bean's class
	 * @param problem what is wrong
	 * @param remedy what to do about it
	 * @return the exception to throw
	 */
	LockDefinitionException error(Method method, Class<?> userClass, String problem, String remedy) {
		String key = source().getLockOperations(method, userClass)
			.stream()
			.map(LockOperation::key)
			.findFirst()
			.orElse("");
		return new LockSite(userClass, method).error("key", key, problem, remedy);
	}

}
