package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Shop;

/**
 * Takes the lock with its time to live in one command. Deletes it afterwards without
 * looking whose it is by then.
 */
final class SetNxThenDel extends RedisRecipe {

	SetNxThenDel(Shop shop) {
		super(shop);
	}

	@Override
	boolean lock() {
		return "OK".equals(this.redis.call("SET", KEY, "locked", "NX", "PX", ttlMillis()));
	}

	@Override
	void unlock() {
		this.redis.call("DEL", KEY);
	}

}
