package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Shop;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * {@link SetNxThenDel} made correct: the sale is written only if the seat is still free.
 */
final class CarefulSetNx extends RedisRecipe {

	private final JdbcTemplate jdbc;

	CarefulSetNx(Shop shop) {
		super(shop);
		this.jdbc = new JdbcTemplate(shop.database());
	}

	@Override
	boolean lock() {
		return "OK".equals(this.redis.call("SET", KEY, "locked", "NX", "PX", ttlMillis()));
	}

	@Override
	void unlock() {
		this.redis.call("DEL", KEY);
	}

	@Override
	public void sell() {
		if (!lock()) {
			this.shop.busy();
			return;
		}
		this.shop.acquired();
		Integer seat = this.shop.lowestFreeSeat();
		this.shop.awaitPayment();
		int free = this.jdbc.update("UPDATE seats SET version = 1 WHERE number = ? AND version = 0", seat);
		if (free == 1 && seat != null) {
			this.shop.writeSale(seat);
			this.shop.released();
			unlock();
		}
		else {
			this.shop.refused(seat, "the seat is sold");
		}
	}

}
