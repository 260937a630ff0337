package io.github.lockspring.internal.interceptor;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import org.jspecify.annotations.Nullable;

import org.springframework.expression.EvaluationContext;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.Expression;
import org.springframework.expression.spel.standard.SpelExpression;

/**
 * An annotated method with everything that is known before its first call, checked.
 * Immutable and thread-safe.
 *
 * @param locks the method's annotations, at least one
 * @param contexts creates what the expressions of a call are evaluated against
 * @param token the parameter that receives the fencing token, or null for none
 * @param busyHandler handles calls when the lock is busy, or null if the exception
 * reaches the caller
 * @param values what to do with the value that a call returns
 */
record LockedMethod(List<Lock> locks, LockEvaluationContext.Factory contexts, @Nullable FencingTokenParameter token,
		@Nullable BusyHandler busyHandler, ReturnTypeValidator.Values values) {

	/** How soon a wait that was interrupted notices that the lock was lost. */
	private static final long CHECK_MILLIS = 100;

	/**
	 * Returns the request of one call.
	 * @param target the object that the method is called on
	 * @param arguments the arguments
	 * @return the request, or null if this call runs without a lock
	 * @throws io.github.lockspring.LockDefinitionException if an expression gives what
	 * cannot be used
	 */
	@Nullable LockRequest request(@Nullable Object target, @Nullable Object[] arguments) {
		Lock first = this.locks.get(0);
		if (this.locks.size() == 1 && first.isConstant() && first.condition() == null) {
			return first.request();
		}
		EvaluationContext context = this.contexts.create(target, arguments);
		if (this.locks.size() == 1) {
			return first.request(context);
		}
		List<LockRequest> requests = new ArrayList<>(this.locks.size());
		for (Lock lock : this.locks) {
			LockRequest request = lock.request(context);
			if (request != null) {
				requests.add(request);
			}
		}
		return (requests.isEmpty()) ? null : allOf(requests);
	}

	private LockRequest allOf(List<LockRequest> requests) {
		try {
			return LockRequest.allOf(requests);
		}
		catch (IllegalArgumentException ex) {
			LockOperation operation = this.locks.get(0).operation();
			throw operation.error("the repeated annotations cannot be taken together: " + ex.getMessage(),
					"Give them different keys, or conditions that exclude each other", ex);
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
	 * @throws io.github.lockspring.LockDefinitionException if it is a future, a publisher
	 * or the like
	 */
	void checkResult(@Nullable Object result) {
		if (this.values == ReturnTypeValidator.Values.VALIDATE) {
			ReturnTypeValidator.validate(this.locks.get(0).operation(), result);
		}
	}

	/** Describes a template that returned and had not run the method. */
	String notRun(LockTemplate template) {
		return ("%s was not run, although the LockTemplate (%s) returned. If it is a mock, use the real one in the"
				+ " test, with distributed-lock.store=memory, or let the mock's execute run its argument")
			.formatted(this.locks.get(0).operation().annotated(), template.getClass().getName());
	}

	/**
	 * One annotation.
	 *
	 * @param operation its values
	 * @param key its key
	 * @param condition its condition, or null for none
	 * @param request the request of every call if the key is constant, otherwise the one
	 * that gets the keys of a call
	 */
	record Lock(LockOperation operation, LockKeyExpression key, @Nullable Expression condition, LockRequest request) {

		static Lock of(LockOperation operation, LockKeyExpression key, @Nullable Expression condition) {
			Lock lock = new Lock(operation, key, condition, operation.request());
			String constant = key.constantKey();
			return (constant != null) ? new Lock(operation, key, condition, lock.forKeys(List.of(constant))) : lock;
		}

		boolean isConstant() {
			return this.key.constantKey() != null;
		}

		/** Returns all expressions that a call evaluates. */
		Stream<SpelExpression> expressions() {
			return Stream.concat(this.key.expressions(), Stream.ofNullable(this.condition))
				.filter(SpelExpression.class::isInstance)
				.map(SpelExpression.class::cast);
		}

		@Nullable LockRequest request(EvaluationContext context) {
			if (this.condition != null && !isTrue(this.condition, context)) {
				return null;
			}
			return isConstant() ? this.request : forKeys(this.key.keys(context));
		}

		private LockRequest forKeys(List<String> keys) {
			try {
				return this.request.forKeys(keys);
			}
			catch (IllegalArgumentException ex) {
				throw this.operation.error("it gives no usable key: " + ex.getMessage(),
						"Name an identifier, or a hash of the value", ex);
			}
		}

		private boolean isTrue(Expression expression, EvaluationContext context) {
			Object value;
			try {
				value = expression.getValue(context);
			}
			catch (EvaluationException ex) {
				throw this.operation.annotated()
					.error("condition", this.operation.condition(), "it cannot be evaluated: " + ex.getMessage(),
							"Correct the expression", ex);
			}
			if (!(value instanceof Boolean answer)) {
				throw this.operation.error("condition", this.operation.condition(),
						"it gives " + value + ", which is no boolean", "Write an expression that is true or false");
			}
			return answer;
		}

	}

}
