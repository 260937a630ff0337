package io.github.lockspring.internal.aop;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.stream.Collectors;

import io.github.lockspring.internal.aop.WrongAnnotationException.Mistake;
import org.jspecify.annotations.Nullable;

import org.springframework.core.annotation.MergedAnnotation;

/**
 * Describes an annotated method for messages and checks. Immutable and thread-safe.
 *
 * @param model the annotation
 * @param type the user's class that stands for the method in messages: the bean's class,
 * never a generated one
 * @param method the method that finally runs
 * @param declared the method that carries the annotation or is covered by it; it differs
 * from {@code method} where that is an interface method or an overridden one, whose
 * parameter names then count
 * @param annotation its annotation
 * @since 0.1
 */
public record AnnotatedMethod(AnnotationModel model, Class<?> type, Method method, Method declared,
		MergedAnnotation<?> annotation) {

	/**
	 * Returns whether a method carries the annotation, and not a class or interface that
	 * covers all its methods.
	 * @return whether a method carries it
	 */
	public boolean direct() {
		return this.annotation.getSource() instanceof Method;
	}

	/**
	 * Creates an error about the method as a whole.
	 * @param problem what is wrong, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @return the exception to throw
	 */
	public WrongAnnotationException error(String problem, String remedy) {
		return error("", "", problem, remedy, null);
	}

	/**
	 * Creates an error about an attribute.
	 * @param attribute the attribute at fault
	 * @param value its value
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @param cause the underlying error, or null
	 * @return the exception to throw
	 */
	public WrongAnnotationException error(String attribute, String value, String problem, String remedy,
			@Nullable Throwable cause) {
		return new WrongAnnotationException(mistake(attribute, value, problem, remedy), cause);
	}

	/**
	 * Describes what is wrong with a call, in the words that an error at the start would
	 * have.
	 * @param attribute the attribute at fault
	 * @param value its value
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence without its full stop
	 * @return the parts of a message
	 */
	public Mistake mistake(String attribute, String value, String problem, String remedy) {
		return new Mistake('@' + this.model.type().getSimpleName(), toString(), attribute, value, problem, remedy);
	}

	/**
	 * Returns the class, the name and the parameter types, as one would search for them.
	 */
	@Override
	public String toString() {
		return Arrays.stream(this.method.getParameterTypes())
			.map(Class::getSimpleName)
			.collect(Collectors.joining(", ", this.type.getTypeName() + '.' + this.method.getName() + '(', ")"));
	}

}
