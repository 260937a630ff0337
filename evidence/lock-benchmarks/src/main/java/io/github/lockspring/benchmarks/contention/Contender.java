package io.github.lockspring.benchmarks.contention;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.benchmarks.adapter.LockAdapter;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * One thread that takes the lock again and again. Used by that thread alone until it has
 * ended.
 */
final class Contender implements Runnable {

	private final LockAdapter adapter;

	private final Cells cells;

	private final String key;

	private final int cell;

	private final long who;

	private final long sectionNanos;

	private final Window window;

	private final Histogram waits = Answer.newHistogram();

	private long sections;

	private long counted;

	private long violations;

	private long errors;

	private @Nullable Throwable firstError;

	private long entered;

	Contender(LockAdapter adapter, Cells cells, String key, int cell, long who, long sectionNanos, Window window) {
		this.adapter = adapter;
		this.cells = cells;
		this.key = key;
		this.cell = cell;
		this.who = who;
		this.sectionNanos = sectionNanos;
		this.window = window;
	}

	@Override
	public void run() {
		parkUntil(this.window.start());
		Runnable section = this::section;
		long asked = System.nanoTime();
		while (asked - this.window.end() < 0) {
			try {
				this.adapter.runLocked(this.key, section);
				record(asked);
			}
			catch (Exception ex) {
				failed(ex);
			}
			asked = System.nanoTime();
		}
	}

	private void section() {
		this.entered = System.nanoTime();
		boolean alone = this.cells.enter(this.cell, this.who);
		this.cells.count(this.cell);
		if (this.sectionNanos > 0) {
			parkUntil(this.entered + this.sectionNanos);
		}
		alone &= this.cells.exit(this.cell, this.who);
		this.sections++;
		if (!alone) {
			this.violations++;
		}
	}

	/**
	 * A wait counts if it ended in the measured time or later: who is still waiting when
	 * that ends has waited long, and must not be forgotten.
	 */
	private void record(long asked) {
		if (this.entered - this.window.measureFrom() < 0) {
			return;
		}
		this.waits.recordValue(Math.max(0, this.entered - asked));
		if (this.entered - this.window.end() < 0) {
			this.counted++;
		}
	}

	private void failed(Exception ex) {
		this.errors++;
		if (this.firstError == null) {
			this.firstError = ex;
		}
		parkUntil(System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(1));
	}

	private static void parkUntil(long nanoTime) {
		long left = nanoTime - System.nanoTime();
		while (left > 0) {
			LockSupport.parkNanos(left);
			left = nanoTime - System.nanoTime();
		}
	}

	long sections() {
		return this.sections;
	}

	long counted() {
		return this.counted;
	}

	long violations() {
		return this.violations;
	}

	long errors() {
		return this.errors;
	}

	@Nullable Throwable firstError() {
		return this.firstError;
	}

	Histogram waits() {
		return this.waits;
	}

	/**
	 * When a run begins, is measured and ends, in terms of {@link System#nanoTime()}.
	 *
	 * @param start when threads begin
	 * @param measureFrom when the measured time begins
	 * @param end when it ends
	 */
	record Window(long start, long measureFrom, long end) {

		static Window of(Order order) {
			long start = System.nanoTime()
					+ TimeUnit.MILLISECONDS.toNanos(order.startMillis() - System.currentTimeMillis());
			long measureFrom = start + TimeUnit.MILLISECONDS.toNanos(order.warmUpMillis());
			return new Window(start, measureFrom, measureFrom + TimeUnit.MILLISECONDS.toNanos(order.measureMillis()));
		}

	}

}
