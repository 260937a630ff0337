package io.github.lockspring.interceptor;

import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.FencingToken;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockSpec;
import org.jspecify.annotations.Nullable;

import org.springframework.core.ResolvableType;

/**
 * The parameter that is given the fencing token of the method's own lock. Immutable and
 * thread-safe.
 *
 * @param operation the annotation that says which lock that is
 * @param position the position among the method's parameters
 */
record TokenParameter(LockOperation operation, int position) {

	/**
	 * Finds the parameter.
	 * @param locks the method's annotations
	 * @return the parameter, or null if there is none
	 * @throws io.github.lockspring.LockDefinitionException if it cannot be known which
	 * token it is to be given
	 */
	static @Nullable TokenParameter of(List<LockedMethod.Lock> locks) {
		LockOperation operation = locks.get(0).operation();
		List<Integer> positions = new ArrayList<>(1);
		for (int i = 0; i < operation.method().getParameterCount(); i++) {
			if (isToken(operation.method(), i, operation.type())) {
				positions.add(i);
			}
		}
		if (positions.isEmpty()) {
			return null;
		}
		if (positions.size() > 1) {
			throw operation.site()
				.error("key", operation.key(),
						"it has " + positions.size() + " parameters of the type FencingToken, and one token",
						"Leave one of them; other locks' tokens are given by HeldLock.current(key)");
		}
		// those with conditions may be alternatives to each other
		if (locks.stream().filter((lock) -> lock.condition() == null).count() > 1) {
			throw operation.site()
				.error("key", operation.key(),
						"it has a parameter of the type FencingToken, and several locks, each with a token of its own",
						"Leave the parameter out, and ask for the token of each lock with HeldLock.current(key)");
		}
		return new TokenParameter(operation, positions.get(0));
	}

	static boolean isToken(Method method, int position, Class<?> targetClass) {
		return ResolvableType.forMethodParameter(method, position, targetClass).toClass() == FencingToken.class;
	}

	/**
	 * Refuses a call that is about to take several locks.
	 * @param request the call's request
	 * @throws io.github.lockspring.LockDefinitionException if it has several keys
	 */
	void checkOneKey(LockRequest request) {
		if (request.locks().size() > 1) {
			throw this.operation.site()
				.error("key", this.operation.key(),
						"this call locks " + request.locks().stream().map(LockSpec::key).toList()
								+ ", each with a token of its own, and has one parameter of the type FencingToken",
						"Leave the parameter out, and ask for the token of each lock with HeldLock.current(key)");
		}
	}

	/**
	 * The arguments with which the method runs under its lock.
	 * @param arguments what the caller passed; it is left as it is
	 * @param lock the lock
	 * @return a copy with the token
	 */
	@Nullable Object[] fill(@Nullable Object[] arguments, HeldLock lock) {
		@Nullable Object[] filled = arguments.clone();
		filled[this.position] = FencingToken.of(lock);
		return filled;
	}

}
