package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.LockDefinitionException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.OnBusy;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import org.jspecify.annotations.Nullable;

/**
 * One {@code @DistributedLock} as it applies to one method: placeholders resolved, and
 * everything but the key in a request. Immutable and thread-safe.
 *
 * @param annotated the method; without a key, its name is the default one
 * @param name the prefix of the key, empty for none
 * @param key the key expression, empty for the method itself
 * @param request the request of every call, for {@link #ANY_KEY} instead of its keys
 * @param onBusy what happens when the lock is busy
 * @since 0.1
 */
public record LockOperation(AnnotatedMethod annotated, String name, String key, LockRequest request, OnBusy onBusy) {

	/** Stands for the keys of calls in {@link #request()}. */
	static final String ANY_KEY = "?";

	/**
	 * Returns the method that runs under the lock.
	 * @return the bean's method
	 */
	public Method method() {
		return this.annotated.method();
	}

	/**
	 * Returns the class that stands for the method in messages and in its default key.
	 * @return the bean's class, never a generated one
	 */
	public Class<?> type() {
		return this.annotated.type();
	}

	/**
	 * Returns the label of the lock in meters, events and messages.
	 * @return the name or, without one, the class and the method
	 */
	String label() {
		return !this.name.isEmpty() ? this.name : type().getSimpleName() + '.' + method().getName();
	}

	/**
	 * Creates an error about an attribute.
	 * @param attribute the attribute at fault
	 * @param value its value
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @return the exception to throw
	 */
	public LockDefinitionException error(String attribute, String value, String problem, String remedy) {
		return this.annotated.error(attribute, value, problem, remedy, null);
	}

	/** Creates an error about the key. */
	LockDefinitionException error(String problem, String remedy) {
		return error(problem, remedy, null);
	}

	LockDefinitionException error(String problem, String remedy, @Nullable Throwable cause) {
		return this.annotated.error("key", this.key, problem, remedy, cause);
	}

	/** Creates an error about the key of a call. */
	IllegalArgumentException refused(String problem, String remedy, @Nullable Throwable cause) {
		return new IllegalArgumentException(this.annotated.mistake("key", this.key, problem, remedy).toString(), cause);
	}

}
