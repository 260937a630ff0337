package io.github.lockspring.redis.internal.client;

import io.github.lockspring.store.LockStore;

import org.springframework.beans.DirectFieldAccessor;

/**
 * Lets connections be idle without waiting.
 */
public final class IdleConnections {

	private IdleConnections() {
	}

	/** The last reply to this store was long ago. */
	public static void age(LockStore store) {
		ConnectionHealth health = (ConnectionHealth) new DirectFieldAccessor(store)
			.getPropertyValue("connections.health");
		health.replied(RedisConnections.ANY_SHARD, System.nanoTime() - ConnectionHealth.IDLE.multipliedBy(2).toNanos());
	}

}
