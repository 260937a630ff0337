package io.github.lockspring.lab.worker;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

import org.jspecify.annotations.Nullable;

/**
 * Named points in the course of a sale, such as {@code after SETNX}, at which the lab can
 * hold this process. Faults then always strike at the same place. Thread-safe.
 */
final class Points {

	private final Map<String, CountDownLatch> armed = new ConcurrentHashMap<>();

	private final Map<String, CountDownLatch> waiting = new ConcurrentHashMap<>();

	private final Reporter reporter;

	Points(Reporter reporter) {
		this.reporter = reporter;
	}

	/** The next thread that reaches the point waits there. */
	void arm(String point) {
		this.armed.put(point, new CountDownLatch(1));
	}

	/** Lets the thread that waits at the point go on, and disarms it. */
	void letGo(String point) {
		CountDownLatch never = this.armed.remove(point);
		CountDownLatch latch = (never != null) ? never : this.waiting.remove(point);
		if (latch != null) {
			latch.countDown();
		}
	}

	/** Lets all go on. */
	void letAllGo() {
		this.armed.clear();
		this.waiting.keySet().forEach(this::letGo);
	}

	/** Waits if the point is armed. */
	void reach(String point) {
		@Nullable CountDownLatch latch = this.armed.get(point);
		if (latch == null) {
			return;
		}
		this.waiting.put(point, latch);
		this.armed.remove(point);
		this.reporter.report("held", "point", point);
		boolean interrupted = false;
		while (true) {
			try {
				latch.await();
				break;
			}
			catch (InterruptedException ex) {
				interrupted = true;
			}
		}
		if (interrupted) {
			Thread.currentThread().interrupt();
		}
	}

}
