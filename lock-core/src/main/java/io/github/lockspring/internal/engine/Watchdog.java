package io.github.lockspring.internal.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.LongUnaryOperator;

import io.github.lockspring.internal.engine.support.Time;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at each lock of this instance when something of it is due: a lease that is to be
 * renewed, or is over. One thread, from the first lock to the stop, walks all locks in a
 * round and rests until the earliest time that it has found. Thread-safe.
 */
/*
 * For maintainers: a round sets `earliest` to never first, and then walks. A lock sets
 * its own time first, and then names it here. So a time that the round has not seen is
 * named after `earliest` was set, and stays in it: both are volatile.
 */
final class Watchdog {

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	/** A round may take a tenth of the thread's time. */
	private static final int REST = 10;

	private static final long MIN_REST_NANOS = 5_000_000;

	/** A short lease must not wait for longer behind a round of many. */
	private static final long MAX_REST_NANOS = 20_000_000;

	/** So many are renewed together: more would hold up those that are due. */
	private static final int MAX_ALONG = 1_000;

	/** Between two looks at something that fails to be looked at. */
	private static final long RETRY_NANOS = 100_000_000;

	/** The clock may be behind after a suspension, and instances are registered anew. */
	private static final long MAX_SLEEP_NANOS = 5_000_000_000L;

	/**
	 * Something that a watchdog looks at.
	 */
	interface Watched {

		/** Nothing is due. */
		long NOT_DUE = 0;

		/**
		 * Returns when something is due, or {@link #NOT_DUE}. Never blocks.
		 */
		long due();

		/**
		 * Does what is due, or is soon due and costs less together with others. Must move
		 * {@link #due} on, or remove it: otherwise each round looks at it again, with no
		 * more between two rounds than the watchdog's shortest rest.
		 * @param batch where to add what is to be renewed now
		 * @return how much earlier than due others may be renewed with it; 0 without a
		 * renewal
		 */
		long tick(long now, List<Renewal> batch);

	}

	private final Time time;

	private final Executor executor;

	private final Iterable<? extends Watched> locks;

	private final Consumer<List<Renewal>> batches;

	private final LongUnaryOperator others;

	private final Executor reports;

	private final AtomicLong earliest;

	private volatile @Nullable Thread thread;

	private volatile boolean started;

	private volatile boolean stopped;

	/**
	 * Creates a watchdog without a thread.
	 * @param time the clock
	 * @param executor runs a task on a thread of its own
	 * @param locks what to look at
	 * @param batches renews leases; must not block
	 * @param others runs in each round, with the present time, and returns when it has to
	 * run again; must not block
	 * @param reports runs log statements
	 */
	Watchdog(Time time, Executor executor, Iterable<? extends Watched> locks, Consumer<List<Renewal>> batches,
			LongUnaryOperator others, Executor reports) {
		this.time = time;
		this.executor = executor;
		this.locks = locks;
		this.batches = batches;
		this.others = others;
		this.reports = reports;
		this.earliest = new AtomicLong(time.nanoTime() + Time.FOREVER);
	}

	/**
	 * Starts the thread, unless there is one. A caller that comes while another one does
	 * so waits for it, and tries itself if that fails.
	 * @throws RuntimeException if the executor refuses; the next call tries again
	 * @throws Error if no thread can be created; as above
	 */
	void start() {
		if (!this.started) {
			startThread();
		}
	}

	private synchronized void startThread() {
		if (!this.started) {
			this.executor.execute(this::run);
			this.started = true;
		}
	}

	/** Ends the thread, for good. */
	void stop() {
		this.stopped = true;
		wake();
	}

	/**
	 * Something is due, perhaps earlier than all else. Never blocks.
	 */
	void due(long at) {
		if (at - this.earliest.get() < 0) {
			lower(at);
			wake();
		}
	}

	/** When the next round has something to do, as far as is known. */
	long earliest() {
		return this.earliest.get();
	}

	private void lower(long at) {
		this.earliest.accumulateAndGet(at, Time::earlier);
	}

	private void wake() {
		Thread resting = this.thread;
		if (resting != null) {
			this.time.unpark(resting);
		}
	}

	private void run() {
		this.thread = Thread.currentThread();
		while (!this.stopped) {
			try {
				long begin = this.time.nanoTime();
				round();
				long took = this.time.nanoTime() - begin;
				rest(begin + took + Math.min(MAX_REST_NANOS, Math.max(MIN_REST_NANOS, REST * took)));
				sleep();
			}
			catch (Throwable ex) {
				survive(ex);
			}
		}
	}

	private void rest(long until) {
		for (long now = this.time.nanoTime(); now - until < 0 && !this.stopped; now = this.time.nanoTime()) {
			park(until - now);
		}
	}

	/** Until the earliest time, which may come nearer meanwhile. */
	private void sleep() {
		long begin = this.time.nanoTime();
		long now = begin;
		while (earliest() - now > 0 && now - begin < MAX_SLEEP_NANOS && !this.stopped) {
			long nanos = earliest() - now;
			park((nanos < Time.FOREVER / 2) ? Math.min(nanos, MAX_SLEEP_NANOS) : nanos);
			now = this.time.nanoTime();
		}
	}

	private void park(long nanos) {
		this.time.park(this, nanos);
		// a flag that stays set would keep this thread from sleeping
		Thread.interrupted();
	}

	/** An error too, and one that cannot even be reported: this thread goes on. */
	private void survive(Throwable ex) {
		try {
			this.reports.execute(() -> logger.error("The lock watchdog goes on after an error", ex));
		}
		catch (Throwable unreported) {
			ex.addSuppressed(unreported);
		}
		this.time.park(this, RETRY_NANOS);
	}

	/**
	 * Looks at everything that is due. What is soon due goes along to fill a batch: many
	 * locks need few requests.
	 */
	void round() {
		long now = this.time.nanoTime();
		this.earliest.set(now + Time.FOREVER);
		List<Renewal> batch = new ArrayList<>();
		long window = walk(now, 0, batch);
		if (window > 0) {
			walk(now, window, batch);
		}
		if (!batch.isEmpty()) {
			this.batches.accept(batch);
		}
		lower(this.others.applyAsLong(now));
	}

	/**
	 * Returns how much earlier than due others may be renewed with those of the batch.
	 */
	private long walk(long now, long early, List<Renewal> batch) {
		long window = 0;
		for (Watched lock : this.locks) {
			long due = lock.due();
			boolean full = early > 0 && batch.size() >= MAX_ALONG;
			if (due != Watched.NOT_DUE && due - now <= (full ? 0 : early)) {
				window = Math.max(window, look(lock, now, batch));
			}
			else if (due != Watched.NOT_DUE) {
				lower(due);
			}
		}
		return window;
	}

	private long look(Watched lock, long now, List<Renewal> batch) {
		try {
			long window = lock.tick(now, batch);
			long due = lock.due();
			if (due != Watched.NOT_DUE) {
				lower(due);
			}
			return window;
		}
		catch (Throwable ex) {
			this.reports
				.execute(() -> logger.error("The lock watchdog failed to look at {} and tries again", lock, ex));
			lower(now + RETRY_NANOS);
			return 0;
		}
	}

}
