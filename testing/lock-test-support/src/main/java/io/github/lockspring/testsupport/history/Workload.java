package io.github.lockspring.testsupport.history;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.KeyedLock;
import io.github.lockspring.internal.LabelledRequest;
import io.github.lockspring.testsupport.history.EventLog.Holding;

/**
 * The work of a worker's threads: they acquire locks in every way, hold them for a while,
 * and record this.
 *
 * @since 0.1
 */
/*
 * For maintainers: each thread of the worker runs run() with a random generator of its
 * own. A handle that is closed by another thread goes to the closers, for which the first
 * one waits.
 */
public final class Workload {

	private final LockTemplate locks;

	private final EventLog events;

	private final List<String> keys;

	private final List<Duration> ttls;

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final ExecutorService closers = Executors.newCachedThreadPool();

	private final ScheduledExecutorService interrupts = Executors.newSingleThreadScheduledExecutor();

	private final Map<String, Integer> granted = new ConcurrentHashMap<>();

	private volatile boolean stopping;

	/**
	 * Creates a workload.
	 * @param locks the locks of one instance
	 * @param events where to write
	 * @param keys the keys to lock
	 * @param ttls the leases to ask for; with few of them, a hold is often passed on
	 * inside of the instance
	 */
	public Workload(LockTemplate locks, EventLog events, List<String> keys, List<Duration> ttls) {
		this.locks = locks;
		this.events = events;
		this.keys = keys;
		this.ttls = ttls;
		keys.forEach((key) -> this.granted.put(key, 0));
	}

	/** Returns how often each key was granted, in the order of the keys. */
	public String progress() {
		return String.join(" ", new TreeMap<>(this.granted).values().stream().map(String::valueOf).toList());
	}

	/**
	 * Starts threads that take locks until {@link #stop()}.
	 * @param count how many
	 * @param random makes the choices
	 */
	public void start(int count, SplittableRandom random) {
		for (int i = 0; i < count; i++) {
			SplittableRandom own = random.split();
			this.threads.execute(() -> run(own));
		}
	}

	/** Ends all threads. */
	public void stop() throws InterruptedException {
		this.stopping = true;
		this.threads.shutdown();
		if (!this.threads.awaitTermination(2, TimeUnit.MINUTES)) {
			this.events.fault("The workload did not end");
		}
		this.interrupts.shutdown();
		this.closers.shutdown();
	}

	private void run(SplittableRandom random) {
		while (!this.stopping) {
			try {
				Future<?> interrupt = null;
				if (random.nextInt(100) < 4) {
					Thread self = Thread.currentThread();
					interrupt = this.interrupts.schedule(self::interrupt, random.nextInt(120), TimeUnit.MILLISECONDS);
				}
				once(random);
				if (interrupt != null) {
					interrupt.cancel(false);
				}
				// one that is under way may still come, and then ends the next wait
				Thread.interrupted();
				pause(random.nextInt(6));
			}
			catch (LockException ex) {
				// a loss is that of the first of several keys, while waiting for the
				// others
				this.events.count(ex.getClass().getSimpleName());
				Thread.interrupted();
				pause(random.nextInt(30));
			}
			catch (Throwable ex) {
				this.events.fault("Unexpected: " + ex);
				ex.printStackTrace();
				pause(100);
			}
		}
	}

	private void once(SplittableRandom random) {
		Duration ttl = this.ttls.get(random.nextInt(this.ttls.size()));
		OnLost onLost = (random.nextInt(10) == 0) ? OnLost.INTERRUPT : OnLost.THROW;
		LockRequest request = request(random, ttl).onLost(onLost);
		Work work = new Work(ttl, random);
		if (onLost == OnLost.INTERRUPT || random.nextInt(2) == 0) {
			execute(request, work);
		}
		else {
			handle(request, work);
		}
	}

	private LockRequest request(SplittableRandom random, Duration ttl) {
		List<String> some = someKeys(random);
		LockRequest request = new LabelledRequest(LockRequest.of("?"), some, null).ttl(ttl);
		if (random.nextInt(3) == 0) {
			request = request.renew(false);
		}
		else if (random.nextInt(20) == 0) {
			request = request.maxHold(ttl.multipliedBy(3).dividedBy(2));
		}
		if (random.nextInt(30) == 0) {
			request = request.minHold(Duration.ofMillis(random.nextInt(200)));
		}
		// while one key is held to wait for another, nothing happens to it
		return request.waitTime((some.size() == 1) ? waitTime(random) : Duration.ofMillis(random.nextInt(200)));
	}

	private List<String> someKeys(SplittableRandom random) {
		int count = (random.nextInt(16) > 0) ? 1 : 2 + random.nextInt(2);
		return Stream.generate(() -> this.keys.get(random.nextInt(this.keys.size()))).limit(count).toList();
	}

	private static Duration waitTime(SplittableRandom random) {
		return switch (random.nextInt(4)) {
			case 0 -> Duration.ZERO;
			case 1 -> Duration.ofMillis(random.nextInt(150));
			default -> Duration.ofMillis(200 + random.nextInt(2500));
		};
	}

	private void execute(LockRequest request, Work work) {
		long asked = System.nanoTime();
		boolean thrown = false;
		try {
			this.locks.executeWithoutResult(request, (lock) -> {
				work.begin(lock, asked);
				try {
					work.run();
					work.reenter();
				}
				finally {
					work.ends();
				}
			});
		}
		catch (LockLostException ex) {
			if (work.holdings.isEmpty()) {
				throw ex;
			}
			thrown = true;
		}
		work.ended(thrown);
	}

	private void handle(LockRequest request, Work work) {
		long asked = System.nanoTime();
		Optional<HeldLock> taken = this.locks.tryAcquire(request);
		if (taken.isEmpty()) {
			this.events.count("busy");
			return;
		}
		HeldLock lock = taken.get();
		work.begin(lock, asked);
		if (work.random.nextInt(3) > 0) {
			runAndClose(lock, work);
		}
		else {
			CompletableFuture.runAsync(() -> runAndClose(lock, work), this.closers).join();
		}
	}

	private static void runAndClose(HeldLock lock, Work work) {
		boolean thrown = false;
		try {
			work.run();
			work.extend();
			work.ends();
			lock.close();
		}
		catch (LockLostException ex) {
			thrown = true;
		}
		work.ended(thrown);
	}

	private static void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			// only meant to disturb
		}
	}

	/** One use of a lock of one or more keys. */
	private final class Work {

		private final Duration ttl;

		private final SplittableRandom random;

		private final List<Holding> holdings = new ArrayList<>(1);

		Work(Duration ttl, SplittableRandom random) {
			this.ttl = ttl;
			this.random = random;
		}

		void begin(HeldLock taken, long asked) {
			for (KeyedLock lock : ((KeyedLock) taken).locks()) {
				this.holdings.add(Workload.this.events.begin(lock, asked, this.ttl));
				Workload.this.granted.merge(lock.key(), 1, Integer::sum);
			}
		}

		void run() {
			long end = System.nanoTime() + length().toNanos();
			while (System.nanoTime() - end < 0 && this.holdings.stream().noneMatch(Holding::isOver)) {
				pause(Math.min(this.random.nextInt(1, 12), Math.max(0, end - System.nanoTime()) / 1_000_000 + 1));
				this.holdings.forEach(Holding::look);
			}
		}

		/** Mostly short, sometimes longer than the lease. */
		private Duration length() {
			int kind = this.random.nextInt(1000);
			if (kind < 900) {
				return Duration.ofMillis(this.random.nextInt(6));
			}
			if (kind < 965) {
				return Duration.ofMillis(this.random.nextInt(120));
			}
			return Duration.ofMillis(this.random.nextInt((int) this.ttl.toMillis() * 3 / 2));
		}

		void extend() {
			if (this.random.nextInt(25) > 0) {
				return;
			}
			Holding holding = this.holdings.get(this.random.nextInt(this.holdings.size()));
			Duration longer = Duration.ofMillis(100 + this.random.nextInt(1500));
			holding.lengthens(longer);
			try {
				holding.lock().extend(longer);
				Workload.this.events.count("extended");
				run();
			}
			catch (LockUnavailableException ex) {
				// it is as it was
			}
		}

		void reenter() {
			if (this.random.nextInt(12) > 0) {
				return;
			}
			Holding holding = this.holdings.get(this.random.nextInt(this.holdings.size()));
			LockRequest inner = LockRequest.of(holding.lock().keys().get(0))
				.ttl(this.ttl)
				.renew(this.random.nextBoolean());
			try {
				Workload.this.locks.executeWithoutResult(inner, (lock) -> {
					Workload.this.events.count("re-entered");
					if (lock.fencingToken() != holding.lock().fencingToken()) {
						Workload.this.events.fault("A re-entry changed the token of " + holding.lock());
					}
					run();
					// the lease may have been lengthened only for the inner hold
					this.holdings.forEach(Holding::retracts);
				});
			}
			catch (LockLostException ex) {
				// the outer one tells so too
			}
		}

		void ends() {
			this.holdings.forEach(Holding::ends);
		}

		/** A loss that the holder saw must have been told, and only a loss. */
		void ended(boolean thrown) {
			boolean over = this.holdings.stream().anyMatch(Holding::isOver);
			if (over && !thrown) {
				Workload.this.events.fault("A loss was not told: " + this.holdings.get(0).lock());
			}
			if (thrown && !over) {
				Workload.this.events.count("lost-at-release");
			}
			this.holdings.forEach((holding) -> holding.ended(holding.isOver() || thrown));
		}

	}

}
