package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Recipe;
import io.github.lockspring.lab.worker.Redis;
import io.github.lockspring.lab.worker.Shop;

/**
 * A recipe that locks, works and unlocks, as all articles have it.
 */
abstract class RedisRecipe implements Recipe {

	static final String KEY = "lock:concert";

	final Shop shop;

	final Redis redis;

	RedisRecipe(Shop shop) {
		this.shop = shop;
		this.redis = shop.connect();
	}

	/**
	 * Tries to take the lock.
	 * @return whether it was free
	 */
	abstract boolean lock();

	abstract void unlock();

	String ttlMillis() {
		return String.valueOf(this.shop.ttl().toMillis());
	}

	@Override
	public void sell() {
		long asked = System.nanoTime();
		if (!lock()) {
			this.shop.busy();
			return;
		}
		this.shop.acquired(asked + this.shop.ttl().toNanos());
		try {
			this.shop.sellSeat();
		}
		finally {
			this.shop.released();
			unlock();
		}
	}

}
