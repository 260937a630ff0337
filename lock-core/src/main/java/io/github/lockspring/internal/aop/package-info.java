/**
 * Supports both annotations of this library with the model of an annotation, the search
 * for annotated methods, and the checks that a proxy can serve them.
 */
@NullMarked
package io.github.lockspring.internal.aop;

import org.jspecify.annotations.NullMarked;
