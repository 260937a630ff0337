package io.github.lockspring.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.ReleaseRequest;
import io.github.lockspring.store.RenewResult;
import io.github.lockspring.store.RenewRequest;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the store what no caller waits for: renewals, and releases of tenures that left
 * the queue or turned out to be orphans.
 * <p>
 * For maintainers: each shard of the store, that is each server which answers by itself,
 * has a line of its own, so that one that hangs delays nobody else's renewals. In a line
 * one request follows the other, on one thread of the given executor, renewals always
 * before releases. {@code running} is true while that thread is busy or about to be;
 * whoever turns it from false to true submits it. What is put into a line, and the
 * removal of an empty one, happen under {@code lock}, so that nothing is put into a line
 * which nobody looks at any more, and an instance that has nothing to ask has no lines.
 * Only where no thread could be had a line stays without one, until the next request, of
 * whatever shard.
 * <p>
 * A release that gets no answer is dropped, and with it those that wait behind it in its
 * line: while the store hangs each would cost a time-out and delay the renewals after it.
 * Nothing is lost by that, since the next instance that waits for such a lock names its
 * token to this one, which then knows it no more and releases it.
 */
final class Courier {

	private static final Logger logger = LoggerFactory.getLogger(Courier.class);

	private static final long CHECK_INTERVAL = 2_000_000;

	private static final String ANY_LANE = "";

	private record Release(ReleaseRequest request, @Nullable Runnable afterwards) {
	}

	private final LockStore store;

	private final EngineSettings settings;

	private final Time time;

	private final Leases leases;

	private final Executor executor;

	private final ReentrantLock lock = new ReentrantLock();

	/** Guarded by lock. */
	private final Map<String, Line> lines = new HashMap<>();

	Courier(LockStore store, EngineSettings settings, Time time, Leases leases, Executor executor) {
		this.store = store;
		this.settings = settings;
		this.time = time;
		this.leases = leases;
		this.executor = executor;
	}

	void renew(List<Tenure> tenures) {
		Map<String, List<Tenure>> byShard = new HashMap<>();
		for (Tenure tenure : tenures) {
			byShard.computeIfAbsent(shard(tenure.entry.key()), (shard) -> new ArrayList<>()).add(tenure);
		}
		byShard.forEach((shard, some) -> {
			Line withoutThread = put(shard, (line) -> line.renewals.addAll(some));
			if (withoutThread != null) {
				withoutThread.giveUpRenewals();
			}
		});
	}

	/**
	 * Releases later.
	 * @param request what to release
	 * @param afterwards called when it was answered or given up
	 */
	void release(ReleaseRequest request, @Nullable Runnable afterwards) {
		Release release = new Release(request, afterwards);
		put(shard(request.key()), (line) -> line.releases.add(release));
	}

	/** The shard of a key, also where the store does not say. */
	String shard(String key) {
		try {
			return this.store.shard(key);
		}
		catch (RuntimeException | Error ex) {
			// a lease that is not asked about would be lost
			logger.error("The store failed in an unexpected way", ex);
			return ANY_LANE;
		}
	}

	/**
	 * Puts something into the line of a shard, and starts all lines that had no thread.
	 * @return the line, if there is no thread for it and none can be had now
	 */
	private @Nullable Line put(String shard, Consumer<Line> what) {
		Line line;
		List<Line> toStart = new ArrayList<>();
		this.lock.lock();
		try {
			line = this.lines.computeIfAbsent(shard, Line::new);
			what.accept(line);
			for (Line any : this.lines.values()) {
				if (!any.running) {
					any.running = true;
					toStart.add(any);
				}
			}
		}
		finally {
			this.lock.unlock();
		}
		Line withoutThread = null;
		for (Line any : toStart) {
			if (!start(any) && any == line) {
				withoutThread = line;
			}
		}
		return withoutThread;
	}

	private boolean start(Line line) {
		try {
			this.executor.execute(line);
			return true;
		}
		catch (RuntimeException | Error ex) {
			// an error too: a machine may be out of threads for a moment
			line.running = false;
			logger.error("The thread that renews locks could not be started and will be tried again", ex);
			return false;
		}
	}

	/**
	 * Waits until everything given to this was carried out.
	 */
	void awaitIdle(Duration longest) {
		long end = this.time.nanoTime() + longest.toNanos();
		while (isBusy() && this.time.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
			this.time.park(this, CHECK_INTERVAL);
		}
	}

	private boolean isBusy() {
		this.lock.lock();
		try {
			return this.lines.values().stream().anyMatch((line) -> line.running);
		}
		finally {
			this.lock.unlock();
		}
	}

	/** Whether anything is kept for any shard. */
	boolean hasLines() {
		this.lock.lock();
		try {
			return !this.lines.isEmpty();
		}
		finally {
			this.lock.unlock();
		}
	}

	/**
	 * What is to be asked of one shard.
	 */
	private final class Line implements Runnable {

		private final String shard;

		private final Queue<Tenure> renewals = new ConcurrentLinkedQueue<>();

		private final Queue<Release> releases = new ConcurrentLinkedQueue<>();

		private volatile boolean running;

		Line(String shard) {
			this.shard = shard;
		}

		@Override
		public void run() {
			do {
				try {
					while (renewSome() || releaseOne()) {
						continue;
					}
				}
				catch (Throwable ex) {
					logger.error("The lock courier goes on after an error", ex);
				}
			}
			while (!end());
		}

		/** False if something has been put into the line meanwhile. */
		private boolean end() {
			Courier.this.lock.lock();
			try {
				if (!this.renewals.isEmpty() || !this.releases.isEmpty()) {
					return false;
				}
				this.running = false;
				Courier.this.lines.remove(this.shard);
				return true;
			}
			finally {
				Courier.this.lock.unlock();
			}
		}

		private boolean renewSome() {
			long sent = Courier.this.time.nanoTime();
			List<Tenure> tenures = new ArrayList<>();
			List<RenewRequest> requests = new ArrayList<>();
			Duration timeout = Courier.this.settings.commandTimeout();
			Tenure tenure;
			while (requests.size() < Courier.this.settings.renewalBatchSize()
					&& (tenure = this.renewals.poll()) != null) {
				RenewRequest request = Courier.this.leases.request(tenure, sent);
				if (request != null) {
					tenures.add(tenure);
					requests.add(request);
					Duration third = Duration.ofNanos(request.ttl().toNanos() / 3);
					timeout = (third.compareTo(timeout) < 0) ? third : timeout;
				}
			}
			if (requests.isEmpty()) {
				return false;
			}
			List<RenewResult> answers;
			try {
				answers = Courier.this.store.renew(requests, timeout);
			}
			catch (LockUnavailableException ex) {
				logger.warn("{} lock(s), '{}' among them, could not be renewed now and will be tried again: {}",
						requests.size(), requests.get(0).key(), ex.getMessage());
				answers = List.of();
			}
			catch (RuntimeException | Error ex) {
				// an error too: whatever happens here, these leases are tried again
				logger.error("The store failed in an unexpected way; {} lock(s) will be renewed again", requests.size(),
						ex);
				answers = List.of();
			}
			for (int i = 0; i < tenures.size(); i++) {
				RenewResult answer = (i < answers.size()) ? answers.get(i) : RenewResult.UNKNOWN;
				Courier.this.leases.renewed(tenures.get(i), answer, sent, requests.get(i).ttl().toNanos());
			}
			return true;
		}

		private boolean releaseOne() {
			Release release = this.releases.poll();
			if (release == null) {
				return false;
			}
			try {
				Courier.this.store.release(release.request, Courier.this.settings.commandTimeout());
			}
			catch (RuntimeException | Error ex) {
				logger.debug("Lock '{}' could not be released in the background: {}", release.request.key(),
						ex.getMessage());
				done(release);
				while ((release = this.releases.poll()) != null) {
					done(release);
				}
				return true;
			}
			done(release);
			return true;
		}

		private void done(Release release) {
			if (release.afterwards != null) {
				release.afterwards.run();
			}
		}

		void giveUpRenewals() {
			Tenure tenure;
			while ((tenure = this.renewals.poll()) != null) {
				Courier.this.leases.renewed(tenure, RenewResult.UNKNOWN, Courier.this.time.nanoTime(), 0);
			}
		}

	}

}
