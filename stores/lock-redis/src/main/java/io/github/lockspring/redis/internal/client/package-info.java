/**
 * Connections to Redis over Lettuce and Jedis, and the execution of scripts on them.
 * <p>
 * This package is internal to the stores on Redis. Its types are public only where
 * {@code redis} and {@code redis.redlock} use them; they may change in any release and
 * must not be used by applications.
 */
@NullMarked
package io.github.lockspring.redis.internal.client;

import org.jspecify.annotations.NullMarked;
