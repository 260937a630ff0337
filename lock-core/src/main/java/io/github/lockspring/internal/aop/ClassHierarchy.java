package io.github.lockspring.internal.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.BridgeMethodResolver;
import org.springframework.util.ClassUtils;

/**
 * Finds the types of a bean's class and where they declare a method.
 *
 * @since 0.1
 */
public final class ClassHierarchy {

	private ClassHierarchy() {
	}

	/**
	 * Returns the class, its superclasses, then all their interfaces, nearest first.
	 * @param type a class
	 * @return all its types, without Object
	 */
	public static Set<Class<?>> of(Class<?> type) {
		Set<Class<?>> types = new LinkedHashSet<>();
		for (Class<?> current = type; current != null && current != Object.class; current = current.getSuperclass()) {
			types.add(current);
		}
		for (Class<?> current : List.copyOf(types)) {
			addInterfaces(current, types);
		}
		return types;
	}

	private static void addInterfaces(Class<?> type, Set<Class<?>> types) {
		for (Class<?> each : type.getInterfaces()) {
			types.add(each);
			addInterfaces(each, types);
		}
	}

	/**
	 * Returns the method that a call finally runs.
	 * @param method the method of a class or interface
	 * @param userClass the bean's class
	 * @return the implementation, or the interface method where the bean is a JDK proxy
	 */
	public static Method specificMethod(Method method, Class<?> userClass) {
		if (Proxy.isProxyClass(userClass)) {
			// An interface that overrides a generic method has a bridge, too
			return BridgeMethodResolver.findBridgedMethod(ClassUtils.getInterfaceMethodIfPossible(method, userClass));
		}
		return AopUtils.getMostSpecificMethod(method, userClass);
	}

	/**
	 * Returns where the interfaces of a class declare a method.
	 * @param specific the method that finally runs
	 * @param userClass the bean's class
	 * @return the declarations, nearest first
	 */
	static List<Method> interfaceMethods(Method specific, Class<?> userClass) {
		return of(userClass).stream()
			.filter((type) -> type.isInterface() && !type.getName().startsWith("java."))
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> isImplementedBy(method, specific, userClass))
			.toList();
	}

	private static boolean isImplementedBy(Method method, Method specific, Class<?> userClass) {
		return method.getName().equals(specific.getName()) && method.getParameterCount() == specific.getParameterCount()
				&& !isHidden(method) && !method.isBridge()
				&& (method.equals(specific) || specificMethod(method, userClass).equals(specific));
	}

	/**
	 * Returns whether no call of a method goes through a proxy.
	 * @param method the method
	 * @return whether it is private or static
	 */
	static boolean isHidden(Method method) {
		return Modifier.isPrivate(method.getModifiers()) || Modifier.isStatic(method.getModifiers());
	}

	/**
	 * Returns whether a subclass in the same package as a bean's class can override a
	 * method.
	 * @param method the method, neither private nor static
	 * @param userClass the bean's class
	 * @return false for a package-private method of another package
	 */
	static boolean isOverridable(Method method, Class<?> userClass) {
		Class<?> owner = method.getDeclaringClass();
		return Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers())
				|| (owner.getPackageName().equals(userClass.getPackageName())
						&& owner.getClassLoader() == userClass.getClassLoader());
	}

}
