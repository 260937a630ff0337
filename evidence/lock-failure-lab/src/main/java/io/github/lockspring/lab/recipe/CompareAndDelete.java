package io.github.lockspring.lab.recipe;

import java.util.UUID;

import io.github.lockspring.lab.worker.Shop;

/**
 * Writes a random value into the key. The release compares and deletes in one script.
 * Nothing renews the lock.
 */
class CompareAndDelete extends RedisRecipe {

	static final String RELEASE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

	private String value = "";

	CompareAndDelete(Shop shop) {
		super(shop);
	}

	String value() {
		return this.value;
	}

	@Override
	boolean lock() {
		this.value = UUID.randomUUID().toString();
		return "OK".equals(this.redis.call("SET", KEY, this.value, "NX", "PX", ttlMillis()));
	}

	@Override
	void unlock() {
		this.redis.call("EVAL", RELEASE, "1", KEY, this.value);
	}

}
