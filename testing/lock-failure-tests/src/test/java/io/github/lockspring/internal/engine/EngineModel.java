package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import org.jspecify.annotations.Nullable;

/**
 * An engine in a state from which Lincheck lets several threads go on, in every order
 * that it can think of. Lincheck makes a new one for each run.
 */
abstract class EngineModel {

	static final String KEY = "order:42";

	final ModelTime time = new ModelTime();

	final ModelStore store = new ModelStore();

	final Background io = new Background(this.time);

	/** How often a loss was published. */
	final AtomicInteger losses = new AtomicInteger();

	final KeyLockRegistry registry = new KeyLockRegistry(this.store, EngineSettings.defaults(), this::record,
			LockRecorder.NONE, null, this.time, new EngineThreads.Executors(this.io, this.io, Runnable::run, (task) -> {
				// its rounds are operations
			}));

	final LockEngine engine = new LockEngine(this.store, (threads) -> this.registry, UnitOfWork.NONE);

	final LockTemplate locks = this.engine.template();

	private void record(LockEvent event) {
		if (event instanceof LockEvent.Lost) {
			this.losses.incrementAndGet();
		}
	}

	/** Waits for as long as it takes. */
	static LockRequest patiently() {
		return LockRequest.of(KEY).ttl(Duration.ofSeconds(30)).waitTime(Duration.ofDays(1));
	}

	/** Nothing is left: no entry, no token, and the lock is free. */
	void checkNothingLeft() {
		this.io.runAll();
		check(this.registry.isEmpty(), "an entry or a token is left");
		check(this.store.isFree(KEY), "the lock was not released");
	}

	static void check(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException(otherwise);
		}
	}

	/** What only one may use at a time. */
	static final class Resource {

		private volatile @Nullable HeldLock user;

		private volatile long lastFencingToken;

		void use(HeldLock lock) {
			check(this.user == null, "two holders at a time");
			this.user = lock;
			check(lock.isHeld(), "not held");
			check(lock.fencingToken() > this.lastFencingToken, "fencing tokens do not grow");
			this.lastFencingToken = lock.fencingToken();
			check(this.user == lock, "two holders at a time");
			this.user = null;
		}

	}

	/** A thread of the engine, played by a thread of the model. */
	static final class Background implements Executor {

		private final Time time;

		private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();

		private volatile @Nullable Thread worker;

		private volatile boolean closed;

		Background(Time time) {
			this.time = time;
		}

		@Override
		public void execute(Runnable task) {
			this.tasks.add(task);
			wake();
		}

		private void wake() {
			Thread present = this.worker;
			if (present != null) {
				this.time.unpark(present);
			}
		}

		/** Carries out what comes until {@link #close()}. */
		void work() {
			this.worker = Thread.currentThread();
			while (true) {
				runAll();
				if (this.closed && this.tasks.isEmpty()) {
					return;
				}
				this.time.nanoTime();
				this.time.park(this, Time.FOREVER);
			}
		}

		void runAll() {
			Runnable task;
			while ((task = this.tasks.poll()) != null) {
				task.run();
			}
		}

		void close() {
			this.closed = true;
			wake();
		}

	}

	/**
	 * Time of a model: it stands still until the model moves it, and a parked thread
	 * wakes only when it is unparked, interrupted, or its time has come, never for no
	 * reason. So a wake-up that is forgotten leaves a thread that waits for ever, which
	 * Lincheck reports.
	 */
	static final class ModelTime implements Time {

		private static final class Sleeper {

			boolean permit;

			/** What the thread's last reading was: it counts its sleep from there. */
			long seen;

		}

		private final ConcurrentHashMap<Thread, Sleeper> sleepers = new ConcurrentHashMap<>();

		private volatile long now = Long.MAX_VALUE - 1_000_000_000L;

		@Override
		public long nanoTime() {
			Sleeper mine = sleeper(Thread.currentThread());
			mine.seen = this.now;
			return mine.seen;
		}

		@Override
		public void park(Object blocker, long nanos) {
			Sleeper mine = sleeper(Thread.currentThread());
			long until = mine.seen + nanos;
			synchronized (mine) {
				try {
					while (!mine.permit && this.now - until < 0 && !Thread.currentThread().isInterrupted()) {
						mine.wait();
					}
				}
				catch (InterruptedException ex) {
					Thread.currentThread().interrupt();
				}
				mine.permit = false;
			}
		}

		@Override
		public void unpark(Thread thread) {
			Sleeper other = sleeper(thread);
			synchronized (other) {
				other.permit = true;
				other.notifyAll();
			}
		}

		void advance(long nanos) {
			this.now += nanos;
			for (Sleeper sleeper : this.sleepers.values()) {
				synchronized (sleeper) {
					sleeper.notifyAll();
				}
			}
		}

		private Sleeper sleeper(Thread thread) {
			return this.sleepers.computeIfAbsent(thread, (key) -> new Sleeper());
		}

	}

}
