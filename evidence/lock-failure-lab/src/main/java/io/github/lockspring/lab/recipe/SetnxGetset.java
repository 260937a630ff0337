package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Shop;

/**
 * Writes the end of the lease into the key, by the clock of the client. Others compare it
 * with their own clocks and take over by {@code GETSET} when it is past.
 */
final class SetnxGetset extends RedisRecipe {

	private long end;

	SetnxGetset(Shop shop) {
		super(shop);
	}

	@Override
	boolean lock() {
		long now = this.shop.clock().millis();
		this.end = now + this.shop.ttl().toMillis() + 1;
		if (Long.valueOf(1).equals(this.redis.call("SETNX", KEY, String.valueOf(this.end)))) {
			return true;
		}
		Object present = this.redis.call("GET", KEY);
		if (present == null || Long.parseLong((String) present) >= now) {
			return false;
		}
		Object replaced = this.redis.call("GETSET", KEY, String.valueOf(this.end));
		return replaced == null || Long.parseLong((String) replaced) < now;
	}

	@Override
	void unlock() {
		if (this.shop.clock().millis() < this.end) {
			this.redis.call("DEL", KEY);
		}
	}

}
