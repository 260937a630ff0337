package io.github.lockspring.internal.fencing;

import io.github.lockspring.FencingGuard;
import java.util.List;

import io.github.lockspring.DistributedLock;
import io.github.lockspring.Fenced;
import io.github.lockspring.internal.aop.AnnotatedMethod;
import io.github.lockspring.internal.aop.AnnotatedMethods;
import io.github.lockspring.internal.aop.AnnotationModel;

import org.springframework.core.annotation.MergedAnnotation;

/**
 * A method with {@link Fenced}. Immutable and thread-safe.
 *
 * @param annotated the method
 * @param guard the name of the guard, empty for the only one
 * @param maybeUnlocked whether the method's own lock has a condition
 */
record FencedMethod(AnnotatedMethod annotated, String guard, boolean maybeUnlocked) {

	private static final AnnotationModel<Fenced> MODEL = new AnnotationModel<>(Fenced.class, "guard",
			"would not be fenced", "call a FencingGuard");

	static AnnotatedMethods<Fenced, FencedMethod> finder() {
		return new AnnotatedMethods<>(MODEL, FencedMethod::read);
	}

	private static FencedMethod read(AnnotatedMethod method, Class<?> userClass,
			List<MergedAnnotation<Fenced>> annotations) {
		AnnotatedMethods.Place<DistributedLock> lock = AnnotatedMethods.nearest(DistributedLock.class, method.method(),
				userClass);
		return new FencedMethod(method, annotations.get(0).getString("guard"),
				lock != null && lock.annotations().stream().anyMatch((each) -> !each.getString("condition").isEmpty()));
	}

	@Override
	public String toString() {
		return this.annotated.toString();
	}

}
