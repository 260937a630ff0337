package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Redis;
import io.github.lockspring.lab.worker.Shop;
import org.jspecify.annotations.Nullable;

/**
 * Renews with a script that compares the value. When the work throws, neither the renewal
 * nor the lock ends: the code that ends them is not in a {@code finally}.
 */
final class OrphanRenewal extends CompareAndDelete {

	private static final String RENEW = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) else return 0 end";

	private final Redis connection;

	private @Nullable Renewal renewal;

	OrphanRenewal(Shop shop) {
		super(shop);
		this.connection = shop.connect();
	}

	@Override
	public void sell() {
		long asked = System.nanoTime();
		if (!lock()) {
			this.shop.busy();
			return;
		}
		String value = value();
		this.renewal = new Renewal(this.shop, () -> this.connection.call("EVAL", RENEW, "1", KEY, value, ttlMillis()));
		this.shop.acquired(asked + this.shop.ttl().toNanos());
		this.shop.sellSeat();
		this.renewal.end();
		this.shop.released();
		unlock();
	}

	/** The lab ends what this recipe forgets. */
	@Override
	public void close() {
		if (this.renewal != null) {
			this.renewal.end();
		}
	}

}
