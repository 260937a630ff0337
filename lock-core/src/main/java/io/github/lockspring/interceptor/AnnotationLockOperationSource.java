package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.annotation.DistributedLock;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.ConfigurableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.annotation.AnnotationConfigurationException;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.core.annotation.MergedAnnotations.SearchStrategy;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Reads {@link DistributedLock} annotations. The nearest place wins: the method (or one
 * that it overrides), the class (or a superclass), the interface method, the interface.
 * An annotation on a class covers its public methods, one on an interface the methods
 * that the interface declares; neither covers what every object has, such as
 * {@code toString()}.
 * <p>
 * Thread-safe: both caches are filled by whoever asks first, with values that depend on
 * the key alone, so that filling one twice does no harm.
 */
public final class AnnotationLockOperationSource implements LockOperationSource {

	private final Map<MethodClassKey, List<LockOperation>> operations = new ConcurrentHashMap<>();

	private final Map<Class<?>, Boolean> annotated = new ConcurrentHashMap<>();

	private final LockOperationParser parser;

	/**
	 * Creates a source.
	 * @param beanFactory resolves the placeholders in the annotations
	 */
	public AnnotationLockOperationSource(ConfigurableBeanFactory beanFactory) {
		this.parser = new LockOperationParser(beanFactory::resolveEmbeddedValue);
	}

	@Override
	public boolean isCandidateClass(Class<?> targetClass) {
		for (Class<?> type : hierarchy(ClassUtils.getUserClass(targetClass))) {
			if (this.annotated.computeIfAbsent(type, AnnotationLockOperationSource::mentionsLock)) {
				return true;
			}
		}
		return false;
	}

	private static boolean mentionsLock(Class<?> type) {
		if (type.getName().startsWith("java.")) {
			return false;
		}
		if (isLocked(MergedAnnotations.from(type))) {
			return true;
		}
		for (Method method : methodsOf(type)) {
			if (method.getAnnotations().length > 0 && isLocked(MergedAnnotations.from(method))) {
				return true;
			}
		}
		return false;
	}

	private static Method[] methodsOf(Class<?> type) {
		try {
			return ReflectionUtils.getDeclaredMethods(type);
		}
		catch (IllegalStateException ex) {
			// It mentions a class that is not there. If it is a bean's own class,
			// Spring has refused it already; an interface that nobody here wrote must
			// not stop the application
			return new Method[0];
		}
	}

	static boolean isLocked(MergedAnnotations annotations) {
		try {
			return annotations.isPresent(DistributedLock.class);
		}
		catch (AnnotationConfigurationException ex) {
			// Present and wrong: whoever reads its attributes will say so
			return true;
		}
	}

	@Override
	public List<LockOperation> getLockOperations(Method method, Class<?> targetClass) {
		Class<?> userClass = ClassUtils.getUserClass(targetClass);
		MethodClassKey key = new MethodClassKey(method, userClass);
		List<LockOperation> cached = this.operations.get(key);
		if (cached != null) {
			return cached;
		}
		List<LockOperation> found = isCandidateClass(userClass) ? find(method, userClass) : List.of();
		this.operations.put(key, found);
		return found;
	}

	private List<LockOperation> find(Method method, Class<?> userClass) {
		Method specific = specificMethod(method, userClass);
		// A JDK proxy (of a repository, say) has a made-up class: its interface stands
		// for it
		Class<?> type = (Proxy.isProxyClass(userClass) || userClass.isHidden()) ? specific.getDeclaringClass()
				: userClass;
		LockSite site = new LockSite(type, specific);
		boolean coverable = Modifier.isPublic(specific.getModifiers()) && !Modifier.isStatic(specific.getModifiers())
				&& !ReflectionUtils.isObjectMethod(specific);
		List<LockOperation> found = read(MergedAnnotations.from(specific, SearchStrategy.SUPERCLASS), site, specific);
		if (found.isEmpty() && coverable) {
			found = read(MergedAnnotations.from(userClass, SearchStrategy.SUPERCLASS), site, specific);
		}
		if (found.isEmpty() && Modifier.isPublic(specific.getModifiers())) {
			found = findOnInterfaces(site, userClass, coverable);
		}
		return found;
	}

	private List<LockOperation> findOnInterfaces(LockSite site, Class<?> userClass, boolean coverable) {
		List<Method> declarations = declarationsOnInterfaces(site.method(), userClass);
		for (Method declaration : declarations) {
			List<LockOperation> found = read(MergedAnnotations.from(declaration), site, declaration);
			if (!found.isEmpty()) {
				return found;
			}
		}
		if (coverable) {
			for (Method declaration : declarations) {
				List<LockOperation> found = read(
						MergedAnnotations.from(declaration.getDeclaringClass(), SearchStrategy.DIRECT), site,
						declaration);
				if (!found.isEmpty()) {
					return found;
				}
			}
		}
		return List.of();
	}

	private List<LockOperation> read(MergedAnnotations annotations, LockSite site, Method declared) {
		try {
			List<LockOperation> found = new ArrayList<>();
			int nearest = -1;
			for (MergedAnnotation<DistributedLock> annotation : annotations.stream(DistributedLock.class).toList()) {
				if (nearest == -1) {
					nearest = annotation.getAggregateIndex();
				}
				if (annotation.getAggregateIndex() == nearest) {
					Method place = (annotation.getSource() instanceof Method source) ? source : declared;
					found.add(this.parser.parse(annotation, site, place));
				}
			}
			return List.copyOf(found);
		}
		catch (AnnotationConfigurationException ex) {
			throw site.error("key", "", "the annotation cannot be read: " + ex.getMessage(),
					"Give either value or key, and check the @AliasFor of annotations of your own", ex);
		}
	}

	/**
	 * The method that a call runs in the end.
	 * @param method the method of a class or interface
	 * @param userClass the bean's class
	 * @return the implementation, or the interface method where the bean is a JDK proxy
	 */
	static Method specificMethod(Method method, Class<?> userClass) {
		if (Proxy.isProxyClass(userClass)) {
			return ClassUtils.getInterfaceMethodIfPossible(method, userClass);
		}
		return AopUtils.getMostSpecificMethod(method, userClass);
	}

	static List<Method> declarationsOnInterfaces(Method specific, Class<?> userClass) {
		List<Method> declarations = new ArrayList<>();
		for (Class<?> type : hierarchy(userClass)) {
			if (!type.isInterface() || type.getName().startsWith("java.")) {
				continue;
			}
			for (Method method : type.getDeclaredMethods()) {
				if (isImplementedBy(method, specific, userClass)) {
					declarations.add(method);
				}
			}
		}
		return declarations;
	}

	private static boolean isImplementedBy(Method method, Method specific, Class<?> userClass) {
		return method.getName().equals(specific.getName()) && method.getParameterCount() == specific.getParameterCount()
				&& !Modifier.isStatic(method.getModifiers()) && !Modifier.isPrivate(method.getModifiers())
				&& !method.isBridge()
				&& (method.equals(specific) || specificMethod(method, userClass).equals(specific));
	}

	/**
	 * The class, its superclasses, then all their interfaces, nearest first.
	 * @param type a class
	 * @return all its types, without Object
	 */
	static Set<Class<?>> hierarchy(Class<?> type) {
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

}
