package io.github.lockspring.internal.aop;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.framework.AopProxyUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds annotated methods and keeps what was read from their annotation. The nearest
 * place wins: the method (or one that it overrides), the class (or a superclass), the
 * interface method, the interface. An annotation on a class covers its public methods,
 * one on an interface the methods that the interface declares; neither covers what every
 * object has, such as {@code toString()}.
 * <p>
 * Thread-safe: the caches hold values that depend on their key alone, and two threads may
 * compute the same one.
 *
 * @param <T> what is read from the annotation of a method
 * @since 0.1
 */
public final class AnnotatedMethods<T> {

	/** The order of a virtual machine may differ from start to start. */
	private static final Comparator<Method> BY_NAME = Comparator.comparing(Method::getName)
		.thenComparing(Method::toString);

	private final Map<MethodClassKey, Optional<T>> known = new ConcurrentHashMap<>();

	private final Map<Class<?>, Boolean> annotated = new ConcurrentHashMap<>();

	private final AnnotationModel model;

	private final BiFunction<AnnotatedMethod, Class<?>, T> reader;

	/**
	 * Creates an empty collection.
	 * @param model the annotation
	 * @param reader reads the annotation of a method, given the bean's class, which
	 * resolves the generic types
	 */
	public AnnotatedMethods(AnnotationModel model, BiFunction<AnnotatedMethod, Class<?>, T> reader) {
		this.model = model;
		this.reader = reader;
	}

	AnnotationModel model() {
		return this.model;
	}

	/**
	 * Returns what the reader made of a method's annotation.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the bean's class
	 * @return the reader's result, or null if the method is not annotated
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	public @Nullable T get(Method method, Class<?> targetClass) {
		MethodClassKey key = new MethodClassKey(method, targetClass);
		Optional<T> value = this.known.get(key);
		if (value == null) {
			value = Optional.ofNullable(read(method, ClassUtils.getUserClass(targetClass)));
			this.known.put(key, value);
		}
		return value.orElse(null);
	}

	/**
	 * Returns whether no annotated method has been found yet.
	 * @return whether none was
	 */
	public boolean isEmpty() {
		return this.known.values().stream().noneMatch(Optional::isPresent);
	}

	/**
	 * Returns what the reader made of the annotation of the method that is called. A
	 * proxy such as a repository handles calls of an interface that the object behind it
	 * does not implement: then it is the target.
	 * @param invocation the call of an annotated method
	 * @return the reader's result
	 * @throws IllegalStateException if there is no annotation
	 */
	public T get(MethodInvocation invocation) {
		Method method = invocation.getMethod();
		Object target = invocation.getThis();
		Class<?> type = (target != null) ? AopProxyUtils.ultimateTargetClass(target) : method.getDeclaringClass();
		T found = get(method, type);
		if (found == null && target != null) {
			// the class that the pointcut has seen
			found = get(method, target.getClass());
		}
		if (found == null) {
			throw new IllegalStateException(
					"There is no @%s on %s, whose interceptor was called. Let its own advisor apply the interceptor"
						.formatted(this.model.type().getSimpleName(), method));
		}
		return found;
	}

	private @Nullable T read(Method method, Class<?> userClass) {
		AnnotatedMethod found = isCandidate(userClass) ? find(method, userClass) : null;
		return (found != null) ? this.reader.apply(found, userClass) : null;
	}

	/**
	 * Returns the annotated methods of a class, inherited ones, those of interfaces and
	 * those that no proxy intercepts included.
	 * @param targetClass a bean's class
	 * @return the methods, those of the class itself first, in the order of their names
	 * @throws io.github.lockspring.LockDefinitionException if an annotation cannot be
	 * read
	 */
	public List<AnnotatedMethod> in(Class<?> targetClass) {
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		if (!isCandidate(userClass)) {
			return List.of();
		}
		Map<Method, AnnotatedMethod> found = new LinkedHashMap<>();
		for (Class<?> type : ClassHierarchy.of(userClass)) {
			// A JDK proxy is described by its interfaces
			Method[] methods = Proxy.isProxyClass(type) ? new Method[0] : ReflectionUtils.getDeclaredMethods(type);
			Arrays.sort(methods, BY_NAME);
			for (Method method : methods) {
				AnnotatedMethod nearest = (method.isBridge() || method.isSynthetic()) ? null : find(method, userClass);
				if (nearest != null) {
					found.putIfAbsent(nearest.method(), nearest);
				}
			}
		}
		return List.copyOf(found.values());
	}

	/**
	 * Returns what the reader made of the annotations of a class.
	 * @param targetClass a bean's class
	 * @return the reader's results, in the order of the methods
	 * @throws io.github.lockspring.LockDefinitionException if an annotation is wrong
	 */
	public List<T> readIn(Class<?> targetClass) {
		return in(targetClass).stream()
			.flatMap((method) -> Stream.ofNullable(get(method.method(), targetClass)))
			.toList();
	}

	/**
	 * Returns whether a class or one of its types mentions the annotation at all. Few do,
	 * and every bean is checked.
	 */
	boolean isCandidate(Class<?> userClass) {
		return ClassHierarchy.of(userClass)
			.stream()
			.anyMatch((type) -> this.annotated.computeIfAbsent(type, this::mentionsAnnotation));
	}

	private boolean mentionsAnnotation(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, this.model.type())) {
			return false;
		}
		if (isPresent(MergedAnnotations.from(type))) {
			return true;
		}
		try {
			return Arrays.stream(ReflectionUtils.getDeclaredMethods(type))
				.anyMatch((method) -> method.getAnnotations().length > 0 && isPresent(MergedAnnotations.from(method)));
		}
		catch (IllegalStateException ex) {
			// It mentions a missing class. Spring has refused it already if it is a
			// bean's own class; an optional interface must not stop the application
			return false;
		}
	}

	private boolean isPresent(MergedAnnotations annotations) {
		try {
			return annotations.isPresent(this.model.type());
		}
		catch (AnnotationConfigurationException ex) {
			// Present and wrong, which is reported when its attributes are read
			return true;
		}
	}

	/**
	 * Returns whether a method itself, or one that it overrides, is annotated.
	 * @param method the method that finally runs
	 * @return whether it is annotated other than by its class or an interface
	 */
	boolean isDirectlyAnnotated(Method method) {
		return isPresent(MergedAnnotations.from(method, SearchStrategy.SUPERCLASS));
	}

	private @Nullable AnnotatedMethod find(Method method, Class<?> userClass) {
		Method specific = ClassHierarchy.isHidden(method) ? method : ClassHierarchy.specificMethod(method, userClass);
		// A JDK proxy (of a repository, say) has a generated class: its interface stands
		// for it
		Class<?> type = (Proxy.isProxyClass(userClass) || userClass.isHidden()) ? specific.getDeclaringClass()
				: userClass;
		try {
			Place place = nearest(specific, userClass);
			if (place == null) {
				return null;
			}
			AnnotatedMethod found = new AnnotatedMethod(this.model, type, specific, place.declared(),
					place.annotations().get(0));
			// fails if it is wrong
			found.annotation().getString(this.model.attribute());
			if (place.annotations().size() > 1) {
				throw found.error(place.annotations().size() + " annotations stand for it: " + place,
						"Leave one of them, or write one annotation that says what all of them mean");
			}
			return found;
		}
		catch (AnnotationConfigurationException ex) {
			throw new AnnotatedMethod(this.model, type, specific, specific, MergedAnnotation.missing()).error(
					this.model.attribute(), "", "the annotation cannot be read: " + ex.getMessage(),
					"Give either an attribute or its alias, and check the @AliasFor of composed annotations", ex);
		}
	}

	/** Returns the nearest place with the annotation, or null if there is none. */
	private @Nullable Place nearest(Method specific, Class<?> userClass) {
		if (ClassHierarchy.isHidden(specific)) {
			return place(MergedAnnotations.from(specific), specific);
		}
		boolean isPublic = Modifier.isPublic(specific.getModifiers());
		boolean coverable = isPublic && !ReflectionUtils.isObjectMethod(specific);
		Place place = place(MergedAnnotations.from(specific, SearchStrategy.SUPERCLASS), specific);
		if (place == null && coverable) {
			place = place(MergedAnnotations.from(userClass, SearchStrategy.SUPERCLASS), specific);
		}
		List<Method> declarations = (place == null && isPublic) ? ClassHierarchy.interfaceMethods(specific, userClass)
				: List.of();
		for (int i = 0; place == null && i < declarations.size(); i++) {
			place = place(MergedAnnotations.from(declarations.get(i)), declarations.get(i));
		}
		for (int i = 0; place == null && coverable && i < declarations.size(); i++) {
			place = place(MergedAnnotations.from(declarations.get(i).getDeclaringClass()), declarations.get(i));
		}
		return place;
	}

	private @Nullable Place place(MergedAnnotations annotations, Method declared) {
		List<? extends MergedAnnotation<?>> all = annotations.stream(this.model.type()).toList();
		if (all.isEmpty()) {
			return null;
		}
		MergedAnnotation<?> first = all.get(0);
		return new Place((first.getSource() instanceof Method source) ? source : declared,
				all.stream().filter((each) -> each.getAggregateIndex() == first.getAggregateIndex()).toList());
	}

	/** A method, class or interface, and what it has that stands for the annotation. */
	private record Place(Method declared, List<? extends MergedAnnotation<?>> annotations) {

		@Override
		public String toString() {
			return this.annotations.stream()
				.map((each) -> '@' + each.getRoot().getType().getSimpleName())
				.collect(Collectors.joining(", "));
		}

	}

}
