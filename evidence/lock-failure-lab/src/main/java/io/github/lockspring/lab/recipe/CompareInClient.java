package io.github.lockspring.lab.recipe;

import java.util.UUID;

import io.github.lockspring.lab.worker.Shop;

/**
 * Writes a random value into the key. The release reads it, compares it in the client,
 * and deletes the key with another command.
 */
final class CompareInClient extends RedisRecipe {

	private String value = "";

	CompareInClient(Shop shop) {
		super(shop);
	}

	@Override
	boolean lock() {
		this.value = UUID.randomUUID().toString();
		return "OK".equals(this.redis.call("SET", KEY, this.value, "NX", "PX", ttlMillis()));
	}

	@Override
	void unlock() {
		if (this.value.equals(this.redis.call("GET", KEY))) {
			this.redis.call("DEL", KEY);
		}
	}

}
