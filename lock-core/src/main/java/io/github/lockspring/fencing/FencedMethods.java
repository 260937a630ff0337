package io.github.lockspring.fencing;

import java.lang.annotation.Annotation;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.annotation.DistributedLock;
import io.github.lockspring.annotation.Fenced;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.support.AopUtils;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotationUtils;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds out which methods are fenced, in the places and with the precedence of
 * {@link DistributedLock}: the method or one that it overrides, the class or a
 * superclass, the interface method, the interface.
 * <p>
 * Thread-safe: the cache is filled by whoever asks first, with values that depend on the
 * key alone.
 */
final class FencedMethods {

	/**
	 * A method that is fenced.
	 *
	 * @param method the method that runs in the end
	 * @param type the bean's class
	 * @param guard the name of the guard, empty for the only one
	 * @param maybeUnlocked whether the method's own lock has a condition
	 */
	record FencedMethod(Method method, Class<?> type, String guard, boolean maybeUnlocked) {

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder(this.type.getTypeName()).append('.').append(this.method.getName());
			text.append('(');
			for (Class<?> parameter : this.method.getParameterTypes()) {
				text.append((text.charAt(text.length() - 1) == '(') ? "" : ", ").append(parameter.getSimpleName());
			}
			return text.append(')').toString();
		}

	}

	private final Map<MethodClassKey, Optional<FencedMethod>> known = new ConcurrentHashMap<>();

	private final Map<Class<?>, Boolean> annotated = new ConcurrentHashMap<>();

	/**
	 * Tells whether a method is fenced.
	 * @param method the method, of the class or of one of its interfaces
	 * @param targetClass the bean's class
	 * @return what is to be known, or null if it is not fenced
	 */
	@Nullable FencedMethod find(Method method, Class<?> targetClass) {
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		MethodClassKey key = new MethodClassKey(method, userClass);
		Optional<FencedMethod> fenced = this.known.get(key);
		if (fenced == null) {
			fenced = Optional.ofNullable(isCandidate(userClass) ? workOut(method, userClass) : null);
			this.known.put(key, fenced);
		}
		return fenced.orElse(null);
	}

	/**
	 * Whether a class or one of its types mentions the annotation at all; hardly any
	 * does, and every bean is asked for.
	 */
	private boolean isCandidate(Class<?> userClass) {
		for (Class<?> type = userClass; type != null && type != Object.class; type = type.getSuperclass()) {
			if (this.annotated.computeIfAbsent(type, FencedMethods::mentionsFenced)) {
				return true;
			}
		}
		for (Class<?> type : ClassUtils.getAllInterfacesForClassAsSet(userClass)) {
			if (this.annotated.computeIfAbsent(type, FencedMethods::mentionsFenced)) {
				return true;
			}
		}
		return false;
	}

	private static boolean mentionsFenced(Class<?> type) {
		if (!AnnotationUtils.isCandidateClass(type, Fenced.class)) {
			return false;
		}
		if (MergedAnnotations.from(type).isPresent(Fenced.class)) {
			return true;
		}
		try {
			for (Method method : ReflectionUtils.getDeclaredMethods(type)) {
				if (method.getAnnotations().length > 0 && MergedAnnotations.from(method).isPresent(Fenced.class)) {
					return true;
				}
			}
		}
		catch (IllegalStateException ex) {
			// It mentions a class that is not there, as optional parts of libraries do
			return false;
		}
		return false;
	}

	private static @Nullable FencedMethod workOut(Method method, Class<?> userClass) {
		Method specific = AopUtils.getMostSpecificMethod(method, userClass);
		List<MergedAnnotation<Fenced>> fenced = nearest(Fenced.class, specific, userClass);
		if (fenced.isEmpty()) {
			return null;
		}
		boolean maybeUnlocked = nearest(DistributedLock.class, specific, userClass).stream()
			.anyMatch((lock) -> !lock.getString("condition").isEmpty());
		return new FencedMethod(specific, userClass, fenced.get(0).getString("guard"), maybeUnlocked);
	}

	/**
	 * The methods of a class that are annotated, also those that no proxy can intercept.
	 * @param userClass a bean's class
	 * @return the methods
	 */
	List<FencedMethod> all(Class<?> userClass) {
		List<FencedMethod> all = new ArrayList<>();
		if (!isCandidate(userClass)) {
			return all;
		}
		for (Method method : ReflectionUtils.getUniqueDeclaredMethods(userClass,
				(each) -> !each.isBridge() && !each.isSynthetic() && each.getDeclaringClass() != Object.class)) {
			FencedMethod fenced = find(method, userClass);
			if (fenced != null) {
				all.add(fenced);
			}
		}
		return all;
	}

	private static <A extends Annotation> List<MergedAnnotation<A>> nearest(Class<A> annotation, Method specific,
			Class<?> userClass) {
		int modifiers = specific.getModifiers();
		boolean coverable = Modifier.isPublic(modifiers) && !Modifier.isStatic(modifiers)
				&& !ReflectionUtils.isObjectMethod(specific);
		List<MergedAnnotation<A>> found = nearest(annotation,
				MergedAnnotations.from(specific, SearchStrategy.SUPERCLASS));
		if (found.isEmpty() && coverable) {
			found = nearest(annotation, MergedAnnotations.from(userClass, SearchStrategy.SUPERCLASS));
		}
		if (found.isEmpty() && coverable) {
			List<Method> declarations = declarations(specific, userClass);
			for (int i = 0; found.isEmpty() && i < declarations.size(); i++) {
				found = nearest(annotation, MergedAnnotations.from(declarations.get(i)));
			}
			for (int i = 0; found.isEmpty() && i < declarations.size(); i++) {
				found = nearest(annotation, MergedAnnotations.from(declarations.get(i).getDeclaringClass()));
			}
		}
		return found;
	}

	private static <A extends Annotation> List<MergedAnnotation<A>> nearest(Class<A> annotation,
			MergedAnnotations annotations) {
		List<MergedAnnotation<A>> all = annotations.stream(annotation).toList();
		return all.stream().filter((each) -> each.getAggregateIndex() == all.get(0).getAggregateIndex()).toList();
	}

	/**
	 * Where the interfaces of a class declare a method.
	 */
	static List<Method> declarations(Method specific, Class<?> userClass) {
		List<Method> declarations = new ArrayList<>();
		Set<Class<?>> interfaces = ClassUtils.getAllInterfacesForClassAsSet(userClass);
		for (Class<?> type : interfaces) {
			for (Method method : type.getMethods()) {
				if (method.getName().equals(specific.getName())
						&& method.getParameterCount() == specific.getParameterCount()
						&& !Modifier.isStatic(method.getModifiers())
						&& AopUtils.getMostSpecificMethod(method, userClass).equals(specific)) {
					declarations.add(method);
				}
			}
		}
		return declarations;
	}

}
