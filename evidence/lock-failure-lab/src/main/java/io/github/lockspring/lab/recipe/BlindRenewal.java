package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Redis;
import io.github.lockspring.lab.worker.Shop;
import org.jspecify.annotations.Nullable;

/**
 * Compares and deletes in a script, and renews with a plain {@code PEXPIRE}, which does
 * not look whose lock it is by then.
 */
final class BlindRenewal extends CompareAndDelete {

	private final Redis connection;

	private @Nullable Renewal renewal;

	BlindRenewal(Shop shop) {
		super(shop);
		this.connection = shop.connect();
	}

	@Override
	boolean lock() {
		boolean locked = super.lock();
		if (locked) {
			this.renewal = new Renewal(this.shop, () -> this.connection.call("PEXPIRE", KEY, ttlMillis()));
		}
		return locked;
	}

	@Override
	void unlock() {
		close();
		super.unlock();
	}

	@Override
	public void close() {
		if (this.renewal != null) {
			this.renewal.end();
		}
	}

}
