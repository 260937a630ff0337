package io.github.lockspring.engine;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps all leases of an instance in view: says when one is to be renewed and when one is
 * over. One thread for any number of locks, and none while there are none.
 * <p>
 * For maintainers: the thread never does I/O and never waits for anybody who does, since
 * a loss must be declared in time while the store hangs. Each held tenure has one
 * {@link Slot} in a concurrent, ordered map: the time at which it is to be looked at.
 * Entries add and remove slots under their own lock; the thread calls entries, which take
 * their lock. To save wake-ups the thread announces in {@code wakeAt} when it will wake
 * by itself, and an entry unparks it only for an earlier slot: insert, then read
 * {@code wakeAt}, on that side; write {@code wakeAt}, then look at the map again, on this
 * side. A thread that finds the map empty ends; the next slot starts another one.
 */
final class Watchdog {

	private static final Logger logger = LoggerFactory.getLogger(Watchdog.class);

	/** So that the thread ends soon after the last lock, however long its lease was. */
	private static final long LONGEST_SLEEP = 5_000_000_000L;

	/**
	 * A place in the order of time.
	 *
	 * @param time when to look
	 * @param number makes slots of the same time different
	 */
	record Slot(long time, long number) implements Comparable<Slot> {

		@Override
		public int compareTo(Slot other) {
			int byTime = Long.signum(this.time - other.time);
			return (byTime != 0) ? byTime : Long.compare(this.number, other.number);
		}

	}

	private final Time time;

	private final Leases leases;

	private final Courier courier;

	/** Runs a task on a thread of its own. */
	private final Executor executor;

	private final ConcurrentSkipListMap<Slot, Tenure> slots = new ConcurrentSkipListMap<>();

	private final AtomicLong numbers = new AtomicLong();

	private final ReentrantLock threadLock = new ReentrantLock();

	/** Whether there is a thread, or one is about to be. Guarded by threadLock. */
	private boolean running;

	private @Nullable Thread thread;

	private volatile long wakeAt;

	Watchdog(Time time, Leases leases, Courier courier, Executor executor) {
		this.time = time;
		this.leases = leases;
		this.courier = courier;
		this.executor = executor;
		this.wakeAt = time.nanoTime() + Time.FOREVER;
	}

	/**
	 * Looks at the tenure at the given time instead of whenever it was to be looked at.
	 * Called under the entry's lock.
	 */
	void schedule(Tenure tenure, long at) {
		Slot old = tenure.slot;
		Slot slot = new Slot(at, this.numbers.incrementAndGet());
		tenure.slot = slot;
		this.slots.put(slot, tenure);
		if (old != null) {
			this.slots.remove(old);
		}
		if (at - this.wakeAt < 0) {
			wake();
		}
	}

	/**
	 * Looks no more at the tenure. Called under the entry's lock.
	 */
	void cancel(Tenure tenure) {
		Slot slot = tenure.slot;
		if (slot != null) {
			tenure.slot = null;
			this.slots.remove(slot);
		}
	}

	int size() {
		return this.slots.size();
	}

	/** Lets the thread see at once what has changed, and end if nothing is left. */
	void wake() {
		this.threadLock.lock();
		try {
			if (this.thread != null) {
				this.time.unpark(this.thread);
			}
			else if (!this.running && !this.slots.isEmpty()) {
				this.running = true;
				this.executor.execute(this::run);
			}
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			this.running = false;
			logger.error("The lock watchdog could not be started; the next lock tries again", ex);
		}
		finally {
			this.threadLock.unlock();
		}
	}

	private void run() {
		this.threadLock.lock();
		try {
			this.thread = Thread.currentThread();
		}
		finally {
			this.threadLock.unlock();
		}
		while (true) {
			try {
				tick();
			}
			catch (Throwable ex) {
				logger.error("The lock watchdog goes on after an error", ex);
			}
			long now = this.time.nanoTime();
			Map.Entry<Slot, Tenure> first = this.slots.firstEntry();
			if (first == null) {
				if (endThread(now)) {
					return;
				}
				continue;
			}
			long at = first.getKey().time();
			this.wakeAt = at;
			Map.Entry<Slot, Tenure> again = this.slots.firstEntry();
			if (again == null || again.getKey().time() - at < 0) {
				continue;
			}
			long nanos = at - this.time.nanoTime();
			if (nanos > 0) {
				this.time.park(this, Math.min(nanos, LONGEST_SLEEP));
				// nobody who interrupts all threads makes this one spin
				Thread.interrupted();
			}
		}
	}

	private boolean endThread(long now) {
		this.threadLock.lock();
		try {
			this.wakeAt = now + Time.FOREVER;
			if (!this.slots.isEmpty()) {
				return false;
			}
			this.thread = null;
			this.running = false;
			return true;
		}
		finally {
			this.threadLock.unlock();
		}
	}

	/**
	 * Looks at all tenures whose time has come. Those of them that are to be renewed take
	 * along others that would be soon: leases that are renewed together stay together, so
	 * that many locks need few commands.
	 */
	void tick() {
		long now = this.time.nanoTime();
		List<Tenure> due = new ArrayList<>();
		long window = 0;
		Map.Entry<Slot, Tenure> first;
		while ((first = this.slots.firstEntry()) != null && first.getKey().time() - now <= 0) {
			Tenure tenure = first.getValue();
			if (look(tenure, first.getKey(), now)) {
				window = Math.max(window, tenure.renewWindow());
				due.add(tenure);
			}
		}
		if (window > 0) {
			this.slots.headMap(new Slot(now + window, Long.MAX_VALUE)).forEach((slot, tenure) -> {
				if (look(tenure, slot, now)) {
					due.add(tenure);
				}
			});
		}
		if (!due.isEmpty()) {
			this.courier.renew(due);
		}
	}

	private boolean look(Tenure tenure, Slot slot, long now) {
		try {
			return this.leases.due(tenure, slot, now);
		}
		catch (Throwable ex) {
			logger.error("The lock watchdog goes on after an error with lock '{}'", tenure.entry.key(), ex);
			this.slots.remove(slot);
			return false;
		}
	}

}
