package io.github.lockspring.internal.fencing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.internal.aop.AnnotatedMethod;

import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;

/**
 * Looks up each guard of an application when the first method needs it. Thread-safe:
 * looking up the same one twice has no effect.
 */
final class FencingGuards {

	private final Map<String, FencingGuard> known = new ConcurrentHashMap<>();

	private final BeanFactory beanFactory;

	FencingGuards(BeanFactory beanFactory) {
		this.beanFactory = beanFactory;
	}

	/**
	 * Returns the guard of a method.
	 * @param method the method
	 * @return its guard
	 * @throws LockDefinitionException if there is none, or several without a name
	 */
	FencingGuard get(AnnotatedMethod method) {
		FencingGuard guard = this.known.get(name(method));
		if (guard == null) {
			guard = lookUp(method);
			this.known.put(name(method), guard);
		}
		return guard;
	}

	private FencingGuard lookUp(AnnotatedMethod method) {
		String name = name(method);
		try {
			return (name.isEmpty()) ? this.beanFactory.getBean(FencingGuard.class)
					: this.beanFactory.getBean(name, FencingGuard.class);
		}
		catch (NoUniqueBeanDefinitionException ex) {
			throw error(method, "there are several FencingGuard beans: " + ex.getBeanNamesFound(),
					"Name the one for the database that this method writes to, as in guard = \"bean name\"");
		}
		catch (BeanNotOfRequiredTypeException ex) {
			throw error(method,
					"the bean '" + name + "' is no FencingGuard: its type is " + ex.getActualType().getName(),
					"Name a FencingGuard bean");
		}
		catch (NoSuchBeanDefinitionException ex) {
			if (name.isEmpty() && FencingGuard.class.equals(ex.getBeanType())) {
				throw error(method, "there is no FencingGuard bean",
						"With spring-boot-starter-jdbc or -data-jpa, and one DataSource, it is created"
								+ " automatically; with several DataSources, define a JdbcFencingGuard bean for each");
			}
			if (!name.isEmpty() && name.equals(ex.getBeanName())) {
				throw error(method, "there is no bean with this name", "Name a FencingGuard bean");
			}
			throw ex;
		}
	}

	/** Returns the name of its guard, empty for the only one. */
	private static String name(AnnotatedMethod method) {
		return method.annotation().getString("guard");
	}

	private static LockDefinitionException error(AnnotatedMethod method, String problem, String remedy) {
		// without the cause: Spring Boot would report that, which names no method
		return method.error(name(method).isEmpty() ? "" : "guard", name(method), problem, remedy, null);
	}

}
