package io.github.lockspring.internal.fencing;

import io.github.lockspring.Fenced;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import io.github.lockspring.internal.aop.AnnotationModel;

/**
 * A method with {@link Fenced}. Immutable and thread-safe.
 *
 * @param annotated the method
 * @param guard the name of the guard, empty for the only one
 */
record FencedMethod(AnnotatedMethod annotated, String guard) {

	private static final AnnotationModel<Fenced> MODEL = new AnnotationModel<>(Fenced.class, "guard",
			"would not be fenced", "call a FencingGuard");

	static AnnotatedMethods<Fenced, FencedMethod> finder() {
		return new AnnotatedMethods<>(MODEL,
				(method, userClass, annotation) -> new FencedMethod(method, annotation.getString("guard")));
	}

	@Override
	public String toString() {
		return this.annotated.toString();
	}

}
