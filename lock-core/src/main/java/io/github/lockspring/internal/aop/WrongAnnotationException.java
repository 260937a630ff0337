package io.github.lockspring.internal.aop;

import java.io.Serializable;

import io.github.lockspring.Fenced;
import io.github.lockspring.LockDefinitionException;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LockDefinitionException} that keeps the parts of its message, for reports.
 *
 * @since 0.1
 */
public final class WrongAnnotationException extends LockDefinitionException {

	private static final long serialVersionUID = 1L;

	private final Mistake mistake;

	WrongAnnotationException(Mistake mistake, @Nullable Throwable cause) {
		super(mistake.toString(), cause);
		this.mistake = mistake;
	}

	/**
	 * Returns the parts of the message.
	 * @return what is wrong
	 */
	public Mistake mistake() {
		return this.mistake;
	}

	/** Logs and traces show the documented type. */
	@Override
	public String toString() {
		return LockDefinitionException.class.getName() + ": " + getMessage();
	}

	/**
	 * A mistake in an annotation, or in a call of its method, and its place.
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
	public record Mistake(String annotation, String method, String attribute, String value, String problem,
			String remedy) implements Serializable {

		@Override
		public String toString() {
			String subject = this.attribute.isEmpty() ? "" : "%s = \"%s\": ".formatted(this.attribute, this.value);
			return "%s on %s: %s%s. %s".formatted(this.annotation, this.method, subject, this.problem, this.remedy);
		}

	}

}
