package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.github.lockspring.LockDefinitionException;
import org.jspecify.annotations.Nullable;

/**
 * The annotated method as a person would look for it.
 *
 * @param type the user's class
 * @param method the method
 */
record LockSite(Class<?> type, Method method) {

	LockDefinitionException error(String attribute, String value, String problem, String remedy) {
		return error(attribute, value, problem, remedy, null);
	}

	LockDefinitionException error(String attribute, String value, String problem, String remedy,
			@Nullable Throwable cause) {
		return new LockDefinitionException(toString(), attribute, value, problem, remedy, cause);
	}

	@Override
	public String toString() {
		return Arrays.stream(this.method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", this.type.getTypeName() + '.' + this.method.getName() + '(', ")"));
	}

}
