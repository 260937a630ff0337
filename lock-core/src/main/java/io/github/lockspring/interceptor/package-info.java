/**
 * From an annotated call to a {@link io.github.lockspring.LockRequest}.
 */
@NullMarked
package io.github.lockspring.interceptor;

import org.jspecify.annotations.NullMarked;
