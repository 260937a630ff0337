package io.github.lockspring.redis;

import org.springframework.data.redis.connection.RedisConnectionFactory;

/**
 * One of the independent servers of a {@link RedlockLockStore}.
 *
 * @param name what it is called in messages, {@code host:port}: never with a password.
 * Different for each node
 * @param connectionFactory says where it is and who we are there; need not have been
 * started, and stays the caller's
 */
public record RedlockNode(String name, RedisConnectionFactory connectionFactory) {
}
