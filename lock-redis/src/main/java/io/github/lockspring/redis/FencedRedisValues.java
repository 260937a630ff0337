package io.github.lockspring.redis;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.HeldLock;
import io.github.lockspring.StaleFencingTokenException;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.RedisScript;

/**
 * String values in Redis that a late holder of a lock cannot overwrite: each write is one
 * script that compares the fencing token with the latest one that has written the value,
 * and refuses an older one. Thread-safe.
 *
 * <pre class="code">
 * locks.execute(LockRequest.of("report"), (lock) -&gt; {
 *     values.set("report:latest", render(), lock.fencingToken());
 *     return null;
 * });</pre>
 *
 * The token is compared when the value is written. That orders the writes, but does not
 * protect a read-modify-write cycle: between its read and its write an earlier holder may
 * still write, and that value is lost.
 * <p>
 * The value is an ordinary one that any client reads with {@code GET}. It is protected
 * only if all writers use this class. The latest token is kept in a key of the same hash
 * slot for a limited time, which each write renews. A writer that was paused for longer
 * than that is not refused, so choose the longest time after which a paused process may
 * resume; seven days are longer than a suspended laptop's weekend. A server that evicts
 * or loses keys loses tokens too.
 * <p>
 * Not registered as a bean: {@code new FencedRedisValues(stringRedisTemplate)}. Requires
 * Redis 6.2 or later, or Valkey.
 *
 * @since 0.1
 */
public final class FencedRedisValues {

	/**
	 * How long a token is kept by default.
	 */
	public static final Duration DEFAULT_KEEP = Duration.ofDays(7);

	private static final String SIBLING = "fenced";

	private static final RedisScript<String> WRITE = LuaScripts.returningText(FencedRedisValues.class, "write.lua");

	private final StringRedisTemplate redis;

	private final Duration keep;

	/**
	 * Creates the access to values, with {@link #DEFAULT_KEEP}.
	 * @param redis accesses the server of the values
	 */
	public FencedRedisValues(StringRedisTemplate redis) {
		this(redis, DEFAULT_KEEP);
	}

	/**
	 * Creates the access to values.
	 * @param redis accesses the server of the values
	 * @param keep how long a token is kept after a write, at least one second
	 * @throws IllegalArgumentException if that is too short
	 */
	public FencedRedisValues(StringRedisTemplate redis, Duration keep) {
		this.redis = Objects.requireNonNull(redis, "redis");
		if (keep.compareTo(Duration.ofSeconds(1)) < 0) {
			throw new IllegalArgumentException("A fencing token must be kept for at least 1s, but keep is " + keep);
		}
		this.keep = keep;
	}

	/**
	 * Sets a value without a ttl.
	 * @param key the key
	 * @param value the value
	 * @param fencingToken the writer's fencing token, see {@link HeldLock#fencingToken()}
	 * @throws StaleFencingTokenException if a writer with a later token has written or
	 * deleted the value; nothing is changed
	 * @throws IllegalStateException inside {@code MULTI} or a pipeline, where Redis does
	 * not reply at once
	 * @throws org.springframework.dao.DataAccessException if Redis fails
	 */
	public void set(String key, String value, long fencingToken) {
		write(key, fencingToken, "set", value, "0");
	}

	/**
	 * Sets a value that expires.
	 * @param key the key
	 * @param value the value
	 * @param ttl how long the value is kept, at least one millisecond
	 * @param fencingToken the writer's fencing token
	 * @throws StaleFencingTokenException as for {@link #set(String, String, long)}
	 */
	public void set(String key, String value, Duration ttl, long fencingToken) {
		if (ttl.toMillis() <= 0) {
			throw new IllegalArgumentException("The ttl of a value must be at least 1ms, but is " + ttl);
		}
		write(key, fencingToken, "set", value, String.valueOf(ttl.toMillis()));
	}

	/**
	 * Deletes a value. The token is kept, so no earlier writer can restore the value.
	 * @param key the key
	 * @param fencingToken the writer's fencing token
	 * @throws StaleFencingTokenException as for {@link #set(String, String, long)}
	 */
	public void delete(String key, long fencingToken) {
		write(key, fencingToken, "delete", "", "0");
	}

	private void write(String key, long fencingToken, String action, String value, String ttl) {
		if (key.isEmpty() || fencingToken <= 0) {
			throw new IllegalArgumentException(
					"The key must not be empty and the fencing token must be positive, but they are '" + key + "' and "
							+ fencingToken);
		}
		String latest = this.redis.execute(WRITE, List.of(key, RedisKeys.sibling(key, SIBLING)),
				String.valueOf(fencingToken), String.valueOf(this.keep.toMillis()), action, value, ttl);
		if (latest == null) {
			throw new IllegalStateException(
					"Redis returned no reply for '" + key + "'. Inside MULTI or a pipeline it is not known whether the "
							+ "fencing token was refused: write outside of it");
		}
		if (Long.parseLong(latest) > fencingToken) {
			throw new StaleFencingTokenException(key, fencingToken, Long.parseLong(latest));
		}
	}

}
