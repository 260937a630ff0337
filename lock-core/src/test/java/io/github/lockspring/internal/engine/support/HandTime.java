package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Time that a test moves, for one thread. It overflows a second after the start.
 */
final class HandTime implements Time {

	final List<Long> pauses = new ArrayList<>();

	final List<Long> parks = new ArrayList<>();

	final List<Thread> unparked = new ArrayList<>();

	BooleanSupplier onPause = () -> false;

	Runnable onPark = () -> {
	};

	private long now = Long.MAX_VALUE - 1_000_000_000;

	void advance(Duration duration) {
		this.now += duration.toNanos();
	}

	@Override
	public long nanoTime() {
		return this.now;
	}

	@Override
	public void park(Object blocker, long nanos) {
		this.parks.add(nanos);
		this.onPark.run();
	}

	@Override
	public boolean pause(Object blocker, long nanos) {
		this.pauses.add(nanos);
		return this.onPause.getAsBoolean();
	}

	@Override
	public void unpark(Thread thread) {
		this.unparked.add(thread);
	}

}
