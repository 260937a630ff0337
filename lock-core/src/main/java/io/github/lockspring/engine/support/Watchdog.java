package io.github.lockspring.engine.support;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at things when they are due. Uses one thread for any number of them, and none
 * while there are none. Thread-safe.
 * <p>
 * For maintainers: the thread never does I/O and never waits for a thread that does,
 * since what expires must be noticed in time while the store hangs. Each thing has one
 * {@link Slot} in a concurrent map that is ordered by time. To save wake-ups the thread
 * announces in {@code wakeAt} when it will wake, and {@link #schedule} unparks it only
 * for an earlier slot: insert, then read {@code wakeAt}, on that side; write
 * {@code wakeAt}, then look at the map again, on this side. A thread that finds the map
 * empty ends; the next slot starts another one.
 *
 * @param <T> what is watched
 * @since 0.1
 */
@SuppressWarnings("try")
public final class Watchdog<T extends Watchdog.Watched> {

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	/** Bounds how long the thread outlives the last slot, however late that was. */
	private static final long MAX_SLEEP_NANOS = 5_000_000_000L;

	/**
	 * What a watchdog looks at.
	 */
	public interface Watched {

		/**
		 * Called when a slot is due, or could be taken along with one that is.
		 * @param slot the slot, which may have been replaced meanwhile
		 * @param now the present time
		 * @return negative if it does not belong to the batch of this moment; otherwise
		 * how much earlier than due others may be taken along, in nanoseconds
		 */
		long due(Slot slot, long now);

	}

	/**
	 * A place in the order of time.
	 *
	 * @param time when it is due
	 * @param number makes slots of the same time different
	 */
	public record Slot(long time, long number) implements Comparable<Slot> {

		@Override
		public int compareTo(Slot other) {
			int byTime = Long.signum(this.time - other.time);
			return (byTime != 0) ? byTime : Long.compare(this.number, other.number);
		}

	}

	private final Time time;

	private final Executor executor;

	private final Consumer<List<T>> batches;

	private final ConcurrentSkipListMap<Slot, T> slots = new ConcurrentSkipListMap<>();

	private final AtomicLong numbers = new AtomicLong();

	private final Monitor monitor = new Monitor();

	/** Whether there is a thread, or one is about to start. Guarded by monitor. */
	private boolean running;

	private @Nullable Thread thread;

	private volatile long wakeAt;

	/**
	 * Creates a watchdog without a thread.
	 * @param time the clock
	 * @param executor runs a task on a thread of its own
	 * @param batches receives what is due at the same time; must not block
	 */
	public Watchdog(Time time, Executor executor, Consumer<List<T>> batches) {
		this.time = time;
		this.executor = executor;
		this.batches = batches;
		this.wakeAt = time.nanoTime() + Time.FOREVER;
	}

	/**
	 * Looks at something at a time, instead of at the time of an earlier slot.
	 * @param watched what to look at
	 * @param at when
	 * @param instead the slot to replace, or null
	 * @return the slot
	 */
	public Slot schedule(T watched, long at, @Nullable Slot instead) {
		Slot slot = new Slot(at, this.numbers.incrementAndGet());
		this.slots.put(slot, watched);
		if (instead != null) {
			this.slots.remove(instead);
		}
		if (at - this.wakeAt < 0) {
			wake();
		}
		return slot;
	}

	/**
	 * Forgets a slot.
	 * @param slot the slot
	 */
	public void cancel(Slot slot) {
		this.slots.remove(slot);
	}

	/**
	 * Returns how many things are watched.
	 * @return the number of slots
	 */
	public int size() {
		return this.slots.size();
	}

	/**
	 * Lets the thread see at once what has changed, and end if nothing is left.
	 */
	public void wake() {
		try (Monitor entered = this.monitor.enter()) {
			if (this.thread != null) {
				this.time.unpark(this.thread);
			}
			else if (!this.running && !this.slots.isEmpty()) {
				this.running = true;
				this.executor.execute(this::run);
			}
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			this.running = false;
			logger.error("The lock watchdog could not be started; the next lock tries again", ex);
		}
	}

	private void run() {
		try (Monitor entered = this.monitor.enter()) {
			this.thread = Thread.currentThread();
		}
		while (true) {
			try {
				tick();
			}
			catch (Throwable ex) {
				logger.error("The lock watchdog goes on after an error", ex);
			}
			long now = this.time.nanoTime();
			Map.Entry<Slot, T> first = this.slots.firstEntry();
			if (first != null) {
				sleepUntil(first.getKey().time());
			}
			else if (endThread(now)) {
				return;
			}
		}
	}

	private void sleepUntil(long at) {
		this.wakeAt = at;
		Map.Entry<Slot, T> first = this.slots.firstEntry();
		if (first == null || first.getKey().time() - at < 0) {
			return;
		}
		long nanos = at - this.time.nanoTime();
		if (nanos > 0) {
			this.time.park(this, Math.min(nanos, MAX_SLEEP_NANOS));
			// a flag that stays set would keep this thread from sleeping
			Thread.interrupted();
		}
	}

	private boolean endThread(long now) {
		try (Monitor entered = this.monitor.enter()) {
			this.wakeAt = now + Time.FOREVER;
			if (!this.slots.isEmpty()) {
				return false;
			}
			this.thread = null;
			this.running = false;
			return true;
		}
	}

	/**
	 * Looks at everything that is due. Those that belong to a batch take along others
	 * that would soon be due: what is handled together stays together, so many locks need
	 * few requests.
	 */
	public void tick() {
		long now = this.time.nanoTime();
		List<T> batch = new ArrayList<>();
		long window = 0;
		Map.Entry<Slot, T> first;
		while ((first = this.slots.firstEntry()) != null && first.getKey().time() - now <= 0) {
			window = Math.max(window, look(first.getValue(), first.getKey(), now, batch));
		}
		if (window > 0) {
			this.slots.headMap(new Slot(now + window, Long.MAX_VALUE))
				.forEach((slot, watched) -> look(watched, slot, now, batch));
		}
		if (!batch.isEmpty()) {
			this.batches.accept(batch);
		}
	}

	private long look(T watched, Slot slot, long now, List<T> batch) {
		try {
			long window = watched.due(slot, now);
			if (window >= 0) {
				batch.add(watched);
			}
			return window;
		}
		catch (Throwable ex) {
			logger.error("The lock watchdog goes on after an error with {}", watched, ex);
			this.slots.remove(slot);
			return -1;
		}
	}

}
