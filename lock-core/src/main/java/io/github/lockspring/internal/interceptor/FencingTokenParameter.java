package io.github.lockspring.internal.interceptor;

import java.lang.reflect.Method;
import java.util.List;
import java.util.stream.IntStream;

import io.github.lockspring.FencingToken;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * The parameter that receives the fencing token of the method's own lock. Immutable and
 * thread-safe.
 *
 * @param operation the annotation of that lock
 * @param position the position among the method's parameters
 */
record FencingTokenParameter(LockOperation operation, int position) {

	/**
	 * Finds the parameter.
	 * @param operations the method's annotations
	 * @return the parameter, or null if there is none
	 * @throws io.github.lockspring.LockDefinitionException if it is ambiguous which token
	 * it receives
	 */
	static @Nullable FencingTokenParameter of(List<LockOperation> operations) {
		LockOperation operation = operations.get(0);
		List<Integer> positions = IntStream.range(0, operation.method().getParameterCount())
			.filter((position) -> isToken(operation.method(), position, operation.type()))
			.boxed()
			.toList();
		if (positions.isEmpty()) {
			return null;
		}
		if (positions.size() > 1) {
			throw operation.annotated()
				.error("it has " + positions.size() + " parameters of the type FencingToken, and one token",
						"Leave one of them; other locks' tokens are given by HeldLock.current(key)");
		}
		// those with conditions may be alternatives to each other
		if (operations.stream().filter((each) -> each.condition().isBlank()).count() > 1) {
			throw operation.annotated()
				.error("it has a parameter of the type FencingToken, and several locks, each with a token of its own",
						"Remove the parameter, and get the token of each lock from HeldLock.current(key)");
		}
		return new FencingTokenParameter(operation, positions.get(0));
	}

	static boolean isToken(Method method, int position, Class<?> targetClass) {
		return ResolvableType.forMethodParameter(method, position, targetClass).toClass() == FencingToken.class;
	}

	/**
	 * Refuses a call that would take several locks.
	 * @param request the call's request
	 * @throws io.github.lockspring.LockDefinitionException if it has several keys
	 */
	void checkOneKey(LockRequest request) {
		if (request.locks().size() > 1) {
			throw this.operation.annotated()
				.error("this call locks " + request.locks().stream().map(LockSpec::key).toList()
						+ ", each with a token of its own, and has one parameter of the type FencingToken",
						"Remove the parameter, and get the token of each lock from HeldLock.current(key)");
		}
	}

	/**
	 * Returns the arguments with which the method runs under its lock.
	 * @param arguments what the caller passed, which is not changed
	 * @param lock the lock
	 * @return a copy with the token
	 */
	@Nullable Object[] fill(@Nullable Object[] arguments, HeldLock lock) {
		@Nullable Object[] filled = arguments.clone();
		filled[this.position] = FencingToken.of(lock);
		return filled;
	}

}
