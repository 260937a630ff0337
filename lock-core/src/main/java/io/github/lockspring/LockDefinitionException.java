package io.github.lockspring;

import java.io.Serializable;

import org.jspecify.annotations.Nullable;

/**
 * An annotation of this library is wrong. Thrown at startup for everything that can be
 * known then, and by a call whose key expression gives something that cannot be a key.
 *
 * @since 0.1
 */
public class LockDefinitionException extends LockException {

	private static final long serialVersionUID = 1L;

	private final Details details;

	/**
	 * Creates the exception; its message consists of the details.
	 * @param details what is wrong, and where
	 * @param cause the underlying error, or null
	 */
	public LockDefinitionException(Details details, @Nullable Throwable cause) {
		super(details.toString(), cause);
		this.details = details;
	}

	/**
	 * Returns the parts of the message.
	 * @return the details
	 */
	public Details getDetails() {
		return this.details;
	}

	/**
	 * What is wrong with an annotation, and where.
	 *
	 * @param annotation the annotation's name as written, such as {@code @Fenced}
	 * @param method the annotated method or class, as one would search for it
	 * @param attribute the attribute at fault, or "return type"; empty if it is the
	 * method as a whole
	 * @param value the attribute's value as written, or the return type
	 * @param problem what is wrong with it, without a full stop
	 * @param remedy what to do about it, a sentence
	 * @since 0.1
	 */
	public record Details(String annotation, String method, String attribute, String value, String problem,
			String remedy) implements Serializable {

		@Override
		public String toString() {
			String subject = this.attribute.isEmpty() ? "" : "%s = \"%s\": ".formatted(this.attribute, this.value);
			return "%s on %s: %s%s. %s".formatted(this.annotation, this.method, subject, this.problem, this.remedy);
		}

	}

}
