package io.github.lockspring.internal.aop;

import java.lang.annotation.Annotation;

/**
 * Describes an annotation that a proxy serves.
 *
 * @param type its type
 * @param attribute the attribute that is read to learn whether the annotation can be read
 * at all, and that the error names if it cannot
 * @param consequence what befalls a method that no proxy intercepts, as in "would run
 * without the lock"
 * @param alternative what to use where no proxy can intercept, as in "use LockTemplate"
 * @since 0.1
 */
public record AnnotationModel(Class<? extends Annotation> type, String attribute, String consequence,
		String alternative) {
}
