package io.github.lockspring;

import java.util.Objects;

/**
 * A fencing token together with the key of its lock. An annotated method that declares a
 * parameter of this type receives the token of its own lock, whatever its caller passes;
 * if its condition is false, it runs without a lock and receives what its caller passed.
 *
 * @param key the key, without the store's prefix
 * @param value the token, as {@link HeldLock#fencingToken()}: larger than that of every
 * earlier holder of the key, positive and below 2<sup>53</sup>
 * @since 0.1
 */
public record FencingToken(String key, long value) {

	/**
	 * Creates a token.
	 * @throws IllegalArgumentException if the value is not positive
	 */
	public FencingToken {
		Objects.requireNonNull(key, "key");
		if (value <= 0) {
			throw new IllegalArgumentException("A fencing token is positive, not " + value);
		}
	}

	/**
	 * Returns the token of a lock.
	 * @param lock a lock with one key
	 * @return its token
	 * @throws IllegalStateException if the lock has several keys
	 */
	public static FencingToken of(HeldLock lock) {
		return new FencingToken(lock.keys().get(0), lock.fencingToken());
	}

}
