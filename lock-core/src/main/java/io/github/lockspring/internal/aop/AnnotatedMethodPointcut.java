package io.github.lockspring.internal.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

import org.springframework.aop.ClassFilter;
import org.springframework.aop.support.StaticMethodMatcherPointcut;
import org.springframework.util.ClassUtils;

/**
 * Matches annotated methods. A class that has some is checked first: a wrong annotation
 * fails when the bean is created, however late that is. Thread-safe.
 *
 * @since 0.1
 */
public final class AnnotatedMethodPointcut extends StaticMethodMatcherPointcut implements ClassFilter {

	private final Map<Class<?>, Boolean> checked = new ConcurrentHashMap<>();

	private final AnnotatedMethods<?> methods;

	private final BooleanSupplier classProxies;

	/**
	 * Creates a pointcut.
	 * @param methods finds the annotated methods
	 * @param classProxies whether beans are proxied by subclasses even if they have
	 * interfaces
	 */
	public AnnotatedMethodPointcut(AnnotatedMethods<?> methods, BooleanSupplier classProxies) {
		this.methods = methods;
		this.classProxies = classProxies;
		setClassFilter(this);
	}

	AnnotatedMethods<?> methods() {
		return this.methods;
	}

	@Override
	public boolean matches(Method method, Class<?> targetClass) {
		return this.methods.get(method, targetClass) != null;
	}

	/**
	 * Checks a class, once unless two threads do so at the same time.
	 * @param type a bean's class
	 * @return whether it has annotated methods
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	@Override
	public boolean matches(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		Boolean known = this.checked.get(userClass);
		if (known == null) {
			List<AnnotatedMethod> annotated = this.methods.in(userClass);
			annotated.forEach((method) -> check(method, userClass));
			known = !annotated.isEmpty();
			if (this.checked.putIfAbsent(userClass, known) == null && known) {
				SelfInvocationDetector.warn(userClass, annotated, this.methods);
			}
		}
		return known;
	}

	/**
	 * Returns what is wrong with the annotations of a class.
	 * @param type a bean's class
	 * @return the errors, at most one for each method
	 */
	public List<WrongAnnotationException> mistakes(Class<?> type) {
		Class<?> userClass = ClassUtils.getUserClass(type);
		List<WrongAnnotationException> mistakes = new ArrayList<>();
		try {
			for (AnnotatedMethod method : this.methods.in(userClass)) {
				try {
					check(method, userClass);
				}
				catch (WrongAnnotationException ex) {
					mistakes.add(ex);
				}
			}
		}
		catch (WrongAnnotationException ex) {
			mistakes.add(ex);
		}
		return mistakes;
	}

	private void check(AnnotatedMethod method, Class<?> userClass) {
		checkReachable(method, userClass);
		this.methods.get(method.method(), userClass);
	}

	private void checkReachable(AnnotatedMethod method, Class<?> userClass) {
		int modifiers = method.method().getModifiers();
		if (ClassHierarchy.isHidden(method.method())) {
			throw method.error(
					"a " + (Modifier.isStatic(modifiers) ? "static" : "private")
							+ " method is never called through a proxy, and " + method.model().consequence(),
					"Make it a public method of a bean, or " + method.model().alternative() + " inside it");
		}
		// The class of a JDK proxy is final, and so are its methods
		if (Proxy.isProxyClass(userClass)) {
			return;
		}
		boolean onInterface = !ClassHierarchy.interfaceMethods(method.method(), userClass).isEmpty();
		if (Modifier.isFinal(modifiers) && !onInterface) {
			throw method.error("no proxy can override a final method, and it " + method.model().consequence(),
					without("final", "the method", userClass)
							+ (method.direct() ? "" : ", or annotate the other methods instead of the class"));
		}
		if (!onInterface || this.classProxies.getAsBoolean()) {
			checkExtensible(method, userClass, onInterface);
		}
	}

	private static void checkExtensible(AnnotatedMethod method, Class<?> userClass, boolean onInterface) {
		boolean isRecord = userClass.isRecord();
		if (isRecord || Enum.class.isAssignableFrom(userClass)) {
			throw method.error(
					"no proxy can extend " + (isRecord ? "a record" : "an enum") + ", and the method "
							+ method.model().consequence(),
					"Move the method to a class that is a bean, or " + method.model().alternative() + " inside it");
		}
		String modifier = Modifier.isFinal(userClass.getModifiers()) ? "final" : userClass.isSealed() ? "sealed" : "";
		if (!modifier.isEmpty()) {
			throw method.error("no proxy can extend a " + modifier + " class",
					without(modifier, "the class", userClass)
							+ (onInterface ? ", or use interface proxies (spring.aop.proxy-target-class=false)"
									: ", or declare the method on an interface"));
		}
		if (!ClassHierarchy.isOverridable(method.method(), userClass)) {
			throw method.error("no proxy of " + userClass.getSimpleName()
					+ " can override a package-private method of another package, and it "
					+ method.model().consequence(), "Make it public or protected");
		}
	}

	/**
	 * Returns the remedy for a modifier. In Kotlin, what is not declared open is final.
	 */
	private static String without(String modifier, String where, Class<?> type) {
		boolean kotlin = Arrays.stream(type.getAnnotations())
			.anyMatch((each) -> each.annotationType().getName().equals("kotlin.Metadata"));
		return (kotlin && modifier.equals("final"))
				? "Declare " + where + " open, as the compiler plugin kotlin-spring does for beans"
				: "Remove " + modifier + " from " + where;
	}

}
