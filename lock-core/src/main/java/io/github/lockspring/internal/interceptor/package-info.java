/**
 * Intercepts calls of annotated methods, and turns each one into a
 * {@link io.github.lockspring.LockRequest}.
 */
@NullMarked
package io.github.lockspring.internal.interceptor;

import org.jspecify.annotations.NullMarked;
