package io.github.lockspring.redis.redlock;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * One of the independent servers of a {@link RedlockLockStore}.
 *
 * @param name its unique name in messages, {@code host:port}, without a password
 * @param connectionFactory provides its address and credentials; need not be started, and
 * stays the caller's to close
 * @since 0.1
 */
public record RedlockNode(String name, RedisConnectionFactory connectionFactory) {
}
