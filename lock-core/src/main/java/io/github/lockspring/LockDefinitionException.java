package io.github.lockspring;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * An annotation of this library is wrong. Thrown at startup for everything that can be
 * known then, and by a call whose key expression gives something that cannot be a key.
 *
 * @since 0.1
 */
public class LockDefinitionException extends LockException {

	private static final long serialVersionUID = 1L;

	private final String annotation;

	private final String method;

	private final String attribute;

	private final String value;

	private final String problem;

	private final String remedy;

	/**
	 * Creates the exception; its message consists of the parts.
	 * @param annotation the annotation's name as written, such as {@code @Fenced}
	 * @param method the annotated method or class, as one would search for it
	 * @param attribute the attribute at fault
	 * @param value the attribute's value as written
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence
	 * @param cause the underlying error, or null
	 */
	public LockDefinitionException(String annotation, String method, String attribute, String value, String problem,
			String remedy, @Nullable Throwable cause) {
		super("%s on %s: %s = \"%s\": %s. %s".formatted(annotation, method, attribute, value, problem, remedy), cause);
		this.annotation = Objects.requireNonNull(annotation, "annotation");
		this.method = Objects.requireNonNull(method, "method");
		this.attribute = Objects.requireNonNull(attribute, "attribute");
		this.value = Objects.requireNonNull(value, "value");
		this.problem = Objects.requireNonNull(problem, "problem");
		this.remedy = Objects.requireNonNull(remedy, "remedy");
	}

	public String getAnnotation() {
		return this.annotation;
	}

	public String getMethod() {
		return this.method;
	}

	public String getAttribute() {
		return this.attribute;
	}

	public String getValue() {
		return this.value;
	}

	public String getProblem() {
		return this.problem;
	}

	public String getRemedy() {
		return this.remedy;
	}

}
