package io.github.lockspring.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

import io.github.lockspring.HeldLock;
import io.github.lockspring.fencing.StaleFencingTokenException;

import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.data.redis.core.script.DefaultRedisScript;
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
 * protect what is read, changed and written: between the two an earlier holder may still
 * write, and its value is lost.
 * <p>
 * The value is an ordinary one that everybody reads with {@code GET}; the protection is
 * worth as much as the discipline of those who write. The latest token stands beside it,
 * in the same hash slot, for a limited time, which is renewed by each write: nobody wants
 * to keep it for every key that was ever written, and a writer that has been standing
 * still for longer than that is let through. Give the longest time after which a stopped
 * process may still wake up; seven days are longer than a suspended laptop's weekend. A
 * server that evicts keys, or loses them, loses tokens with them.
 * <p>
 * Not a bean by itself: {@code new FencedRedisValues(stringRedisTemplate)}. Redis 6.2 or
 * later, or Valkey.
 */
public final class FencedRedisValues {

	/**
	 * How long a token is remembered unless something else is said.
	 */
	public static final Duration DEFAULT_KEEP = Duration.ofDays(7);

	private static final String SIBLING = "fenced";

	private static final RedisScript<String> WRITE = new DefaultRedisScript<>(text("write.lua"), String.class);

	private final StringRedisTemplate redis;

	private final Duration keep;

	/**
	 * Creates the access to values, with the default time.
	 * @param redis where the values are
	 */
	public FencedRedisValues(StringRedisTemplate redis) {
		this(redis, DEFAULT_KEEP);
	}

	/**
	 * Creates the access to values.
	 * @param redis where the values are
	 * @param keep how long a token is remembered after a write, a second at least
	 */
	public FencedRedisValues(StringRedisTemplate redis, Duration keep) {
		this.redis = Objects.requireNonNull(redis, "redis");
		if (keep.compareTo(Duration.ofSeconds(1)) < 0) {
			throw new IllegalArgumentException("A token that is remembered for " + keep + " refuses nobody");
		}
		this.keep = keep;
	}

	/**
	 * Sets a value that stays.
	 * @param key the key
	 * @param value the value
	 * @param token the writer's fencing token, see {@link HeldLock#fencingToken()}
	 * @throws StaleFencingTokenException if somebody with a later token has written or
	 * deleted the value; nothing is changed
	 * @throws IllegalStateException inside {@code MULTI} or a pipeline, where Redis gives
	 * no answer
	 * @throws org.springframework.dao.DataAccessException if Redis fails
	 */
	public void set(String key, String value, long token) {
		write(key, token, "set", value, "0");
	}

	/**
	 * Sets a value that expires.
	 * @param key the key
	 * @param value the value
	 * @param ttl how long the value stays, a millisecond at least
	 * @param token the writer's fencing token
	 * @throws StaleFencingTokenException as for {@link #set(String, String, long)}
	 */
	public void set(String key, String value, Duration ttl, long token) {
		if (ttl.toMillis() <= 0) {
			throw new IllegalArgumentException("A value cannot stay for " + ttl);
		}
		write(key, token, "set", value, String.valueOf(ttl.toMillis()));
	}

	/**
	 * Deletes a value. The token is remembered all the same, so that no earlier writer
	 * brings the value back.
	 * @param key the key
	 * @param token the writer's fencing token
	 * @throws StaleFencingTokenException as for {@link #set(String, String, long)}
	 */
	public void delete(String key, long token) {
		write(key, token, "delete", "", "0");
	}

	private void write(String key, long token, String action, String value, String ttl) {
		if (key.isEmpty() || token <= 0) {
			throw new IllegalArgumentException(
					"A key is not empty, and a fencing token is positive, unlike '" + key + "' and " + token);
		}
		String latest = this.redis.execute(WRITE, List.of(key, RedisKeys.sibling(key, SIBLING)), String.valueOf(token),
				String.valueOf(this.keep.toMillis()), action, value, ttl);
		if (latest == null) {
			throw new IllegalStateException(
					"Redis gave no answer about '" + key + "': inside MULTI or a pipeline nobody"
							+ " can tell whether the token was refused. Write outside of it");
		}
		if (Long.parseLong(latest) > token) {
			throw new StaleFencingTokenException(key, token, Long.parseLong(latest));
		}
	}

	// as text: a script made from a resource looks at the file's date at each execution
	private static String text(String name) {
		try (InputStream in = FencedRedisValues.class.getResourceAsStream(name)) {
			if (in == null) {
				throw new IllegalStateException(
						"Script not found on the class path: io/github/lockspring/redis/" + name);
			}
			return new String(in.readAllBytes(), StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
