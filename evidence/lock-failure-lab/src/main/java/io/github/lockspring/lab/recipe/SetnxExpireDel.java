package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Shop;

/**
 * Takes the lock with one command, and gives it its time to live with another one.
 */
final class SetnxExpireDel extends RedisRecipe {

	SetnxExpireDel(Shop shop) {
		super(shop);
	}

	@Override
	boolean lock() {
		if (!Long.valueOf(1).equals(this.redis.call("SETNX", KEY, "locked"))) {
			return false;
		}
		this.redis.call("PEXPIRE", KEY, ttlMillis());
		return true;
	}

	@Override
	void unlock() {
		this.redis.call("DEL", KEY);
	}

}
