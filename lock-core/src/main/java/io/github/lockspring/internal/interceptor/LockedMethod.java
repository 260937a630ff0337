package io.github.lockspring.internal.interceptor;

import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;

/**
 * An annotated method with everything that is known before its first call, checked.
 * Immutable and thread-safe.
 *
 * @param operation the annotation
 * @param key makes the request of a call
 * @param skipped gives the result of a call that is skipped because its lock is busy, or
 * null if the exception reaches the caller
 * @param values what to do with the value that a call returns
 */
record LockedMethod(LockOperation operation, LockKeyExpression key,
		@Nullable Supplier<? extends @Nullable Object> skipped, ReturnTypeValidator.Values values) {
}
