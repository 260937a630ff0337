package io.github.lockspring.internal.interceptor;

import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.LabelledRequest;
import org.jspecify.annotations.Nullable;

/**
 * An annotated method with everything that is known before its first call, checked.
 * Immutable and thread-safe.
 *
 * @param operation the annotation
 * @param key the key
 * @param request the request of every call if the key is constant, otherwise the one that
 * gets the keys of a call
 * @param contexts creates what the key of a call is evaluated against
 * @param skipped gives what a call returns that is skipped because its lock is busy, or
 * null if the exception reaches the caller
 * @param values what to do with the value that a call returns
 */
record LockedMethod(LockOperation operation, LockKeyExpression key, LockRequest request,
		LockEvaluationContext.Factory contexts, @Nullable Supplier<? extends @Nullable Object> skipped,
		ReturnTypeValidator.Values values) {

	/** How soon a wait that was interrupted notices that the lock was lost. */
	private static final long CHECK_MILLIS = 100;

	private static final String UNUSABLE = "it gives no usable key: ";

	private static final String IDENTIFIER = "Name an identifier, or a hash of the value";

	static LockedMethod of(LockOperation operation, LockKeyExpression key, LockEvaluationContext.Factory contexts,
			@Nullable Supplier<? extends @Nullable Object> skipped, ReturnTypeValidator.Values values) {
		String constant = key.constantKey();
		try {
			LockRequest request = (constant != null)
					? new LabelledRequest(operation.request(), List.of(constant), operation.label())
					: operation.request();
			return new LockedMethod(operation, key, request, contexts, skipped, values);
		}
		catch (IllegalArgumentException ex) {
			throw operation.error(UNUSABLE + ex.getMessage(), IDENTIFIER, ex);
		}
	}

	/**
	 * Returns the request of one call.
	 * @param target the object that the method is called on
	 * @param arguments the arguments
	 * @return the request
	 * @throws IllegalArgumentException if the key gives what cannot be used
	 */
	LockRequest request(@Nullable Object target, @Nullable Object[] arguments) {
		if (this.key.constantKey() != null) {
			return this.request;
		}
		List<String> keys = this.key.keys(this.contexts.create(target, arguments));
		try {
			return new LabelledRequest(this.operation.request(), keys, this.operation.label());
		}
		catch (IllegalArgumentException ex) {
			throw this.operation.refused(UNUSABLE + ex.getMessage(), IDENTIFIER, ex);
		}
	}

	/**
	 * Returns a result when its work is done, called while the lock is held. An interrupt
	 * does not end that work, so it ends the wait only when the lock is lost.
	 * @param result what the method returned
	 * @param lock the lock
	 * @return the result
	 * @throws Throwable the exception of its work
	 */
	@Nullable Object awaited(@Nullable Object result, HeldLock lock) throws Throwable {
		if (this.values == ReturnTypeValidator.Values.AWAIT && result instanceof Future<?> future) {
			boolean interrupted = false;
			try {
				while (!isDone(future, interrupted)) {
					interrupted = true;
					if (!lock.isHeld()) {
						throw new InterruptedException("interrupted, and the lock was lost");
					}
				}
			}
			finally {
				if (interrupted) {
					Thread.currentThread().interrupt();
				}
			}
		}
		return result;
	}

	/** Waits; after an interrupt only for a while. */
	private static boolean isDone(Future<?> future, boolean interrupted) throws Throwable {
		try {
			future.get(interrupted ? CHECK_MILLIS : Long.MAX_VALUE, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (InterruptedException | TimeoutException ex) {
			return false;
		}
		catch (ExecutionException ex) {
			throw (ex.getCause() != null) ? ex.getCause() : ex;
		}
	}

	/**
	 * Refuses a result whose work is not done: the lock is released already.
	 * @param result what the method returned
	 * @throws IllegalStateException if it is a future, a publisher or the like
	 */
	void checkResult(@Nullable Object result) {
		if (this.values == ReturnTypeValidator.Values.VALIDATE) {
			ReturnTypeValidator.validate(this.operation, result);
		}
	}

	/** Describes a template that returned and had not run the method. */
	String notRun(LockTemplate template) {
		return ("%s was not run, although the LockTemplate (%s) returned. If it is a mock, use the real one in the"
				+ " test, with distributed-lock.store=memory, or let the mock's execute run its argument")
			.formatted(this.operation.annotated(), template.getClass().getName());
	}

}
