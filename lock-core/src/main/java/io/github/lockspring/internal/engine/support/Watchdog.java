package io.github.lockspring.internal.engine.support;

import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Looks at things when they are due. Uses one thread for any number of them, and none
 * while there are none. Thread-safe.
 * <p>
 * For maintainers: the thread never does I/O, never logs, and never waits for a thread
 * that does, since what expires must be noticed in time while the store or an appender
 * hangs. Each thing has one {@link Slot} in a concurrent map that is ordered by time. A
 * slot that is due stays in the map until what it belongs to cancels or replaces it, so
 * what fails to be looked at is looked at again.
 * <p>
 * {@link #schedule} may be called under the lock of what is watched: it starts no thread.
 * {@link #start} does, and is called afterwards, without such a lock, for a new thing.
 * <p>
 * Two pairs of accesses are each a store followed by a load of something else, which a
 * processor may swap: volatile fields alone do not forbid it, since the map is read
 * without them. A full fence on both sides of each pair makes it impossible that both
 * sides miss the other's store. First: {@code schedule} inserts its slot, then reads
 * {@code wakeAt} and unparks for an earlier slot only; the thread writes {@code wakeAt},
 * then reads the map, then sleeps. Second: {@code schedule} inserts its slot, and
 * {@code start} then reads {@code thread}; the thread that ends clears {@code thread},
 * then reads the map, and stays if there is a slot.
 *
 * @param <T> what is watched
 * @since 0.1
 */
public final class Watchdog<T extends Watchdog.Watched> {

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	/** Between two looks at something that fails to be looked at. */
	private static final long RETRY_NANOS = 100_000_000;

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

	private final Runnable aside;

	private final Executor reports;

	private final ConcurrentSkipListMap<Slot, T> slots = new ConcurrentSkipListMap<>();

	private final AtomicLong numbers = new AtomicLong();

	private final ReentrantLock starting = new ReentrantLock();

	/** Whether there is a thread, or one is about to begin. Guarded by starting. */
	private boolean running;

	/** Null unless it runs. */
	private volatile @Nullable Thread thread;

	private volatile long wakeAt;

	/** Whether a look has failed. Of the thread. */
	private boolean failed;

	/**
	 * Creates a watchdog without a thread.
	 * @param time the clock
	 * @param executor runs a task on a thread of its own
	 * @param batches receives what is due at the same time; must not block
	 * @param aside runs at each look, at least every five seconds while anything is
	 * watched; must not block
	 * @param reports writes what the log has to say
	 */
	public Watchdog(Time time, Executor executor, Consumer<List<T>> batches, Runnable aside, Executor reports) {
		this.time = time;
		this.executor = executor;
		this.batches = batches;
		this.aside = aside;
		this.reports = reports;
		this.wakeAt = time.nanoTime() + Time.FOREVER;
	}

	/**
	 * Looks at something at a time, instead of at the time of an earlier slot. Starts no
	 * thread.
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
		VarHandle.fullFence();
		if (at - this.wakeAt < 0) {
			wake();
		}
		return slot;
	}

	/**
	 * Starts the thread, unless there is one or nothing is watched. To be called after a
	 * new thing was scheduled, without a lock that others need.
	 * @throws RuntimeException if the executor refuses; the thing is then not watched
	 * before the next call
	 * @throws Error if no thread can be created; as above
	 */
	public void start() {
		if (this.thread != null) {
			return;
		}
		this.starting.lock();
		try {
			if (!this.running && !this.slots.isEmpty()) {
				this.running = true;
				execute();
			}
		}
		finally {
			this.starting.unlock();
		}
	}

	private void execute() {
		boolean started = false;
		try {
			this.executor.execute(this::run);
			started = true;
		}
		finally {
			this.running = started;
		}
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
	 * Lets the thread, if there is one, see at once what has changed, and end if nothing
	 * is left.
	 */
	public void wake() {
		Thread sleeping = this.thread;
		if (sleeping != null) {
			this.time.unpark(sleeping);
		}
	}

	private void run() {
		this.thread = Thread.currentThread();
		boolean ended = false;
		while (!ended) {
			try {
				ended = lookAndSleep();
			}
			catch (Throwable ex) {
				survive(ex);
			}
		}
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

	/** Returns whether the thread ends. */
	private boolean lookAndSleep() {
		tick();
		long now = this.time.nanoTime();
		Map.Entry<Slot, T> first = this.slots.firstEntry();
		if (first == null) {
			return endThread(now);
		}
		if (this.failed) {
			this.wakeAt = now + RETRY_NANOS;
			park(RETRY_NANOS);
		}
		else {
			sleepUntil(first.getKey().time());
		}
		return false;
	}

	private void sleepUntil(long at) {
		this.wakeAt = at;
		VarHandle.fullFence();
		Map.Entry<Slot, T> first = this.slots.firstEntry();
		if (first == null || first.getKey().time() - at < 0) {
			return;
		}
		long nanos = at - this.time.nanoTime();
		if (nanos > 0) {
			park(Math.min(nanos, MAX_SLEEP_NANOS));
		}
	}

	private void park(long nanos) {
		this.time.park(this, nanos);
		// a flag that stays set would keep this thread from sleeping
		Thread.interrupted();
	}

	private boolean endThread(long now) {
		this.starting.lock();
		try {
			this.thread = null;
			this.wakeAt = now + Time.FOREVER;
			VarHandle.fullFence();
			this.running = !this.slots.isEmpty();
			if (this.running) {
				this.thread = Thread.currentThread();
			}
			return !this.running;
		}
		finally {
			this.starting.unlock();
		}
	}

	/**
	 * Looks at everything that is due. Those that belong to a batch take along others
	 * that would soon be due: what is handled together stays together, so many locks need
	 * few requests.
	 */
	public void tick() {
		this.failed = false;
		long now = this.time.nanoTime();
		List<T> batch = new ArrayList<>();
		long window = look(now, now, batch);
		if (window > 0) {
			look(now + window, now, batch);
		}
		if (!batch.isEmpty()) {
			this.batches.accept(batch);
		}
		this.aside.run();
	}

	/** Looks at all slots up to a time. */
	private long look(long until, long now, List<T> batch) {
		long window = 0;
		for (Map.Entry<Slot, T> due : this.slots.headMap(new Slot(until, Long.MAX_VALUE)).entrySet()) {
			window = Math.max(window, look(due.getValue(), due.getKey(), now, batch));
		}
		return window;
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
			this.failed = true;
			this.reports
				.execute(() -> logger.error("The lock watchdog failed to look at {} and tries again", watched, ex));
			return -1;
		}
	}

}
