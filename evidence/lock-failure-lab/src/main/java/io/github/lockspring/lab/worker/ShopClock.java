package io.github.lockspring.lab.worker;

import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;

/**
 * The wall clock of a shop, which the lab can set. Thread-safe.
 */
final class ShopClock extends Clock {

	private volatile long offsetMillis;

	void shift(long millis) {
		this.offsetMillis = millis;
	}

	@Override
	public Instant instant() {
		return Instant.ofEpochMilli(millis());
	}

	@Override
	public long millis() {
		return System.currentTimeMillis() + this.offsetMillis;
	}

	@Override
	public ZoneId getZone() {
		return ZoneOffset.UTC;
	}

	@Override
	public Clock withZone(ZoneId zone) {
		return this;
	}

}
