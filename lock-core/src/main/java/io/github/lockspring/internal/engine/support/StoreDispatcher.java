package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends to the store what no caller waits for: renewals, and releases in the background.
 * Thread-safe.
 * <p>
 * For maintainers: each shard of the store, that is each server that answers separately,
 * has a queue of its own, so a server that hangs delays no renewals of others. In a queue
 * one request follows the other, on one thread of the executor, renewals always before
 * releases. {@code running} is true while that thread is busy or about to start; the
 * thread that sets it submits the queue, or clears it. Adding to a queue, and removing an
 * empty one, happen under {@code monitor}, so nothing is added to a queue that is not
 * looked at any more, and an instance that has nothing to send has no queues. Only where
 * no thread could be started a queue stays without one, until the next request to any
 * shard.
 * <p>
 * A release without a result stops the releases of its queue for a moment: while the
 * store hangs each would cost a timeout and delay the renewals after it. All that wait
 * for one of them are told at once that it was given up, but it is repeated, until it has
 * a result or the lease that it ends is over: otherwise the lock would be busy for that
 * long to those who do not wait. A shard whose last request took all of its time is
 * <em>silent</em>; callers then leave their releases to the background. An answer to an
 * attempt or to a request in the background ends both; while attempts are answered and
 * releases are refused, answers end one pause in half a second at most.
 *
 * @since 0.1
 */
@SuppressWarnings("try")
public final class StoreDispatcher {

	private static final Logger logger = LoggerFactory.getLogger(StoreDispatcher.class);

	/** Between two tries to release anything while a server does not answer. */
	private static final long REPEAT_INTERVAL_NANOS = 500_000_000;

	/** The most releases that are repeated for a server, of a few hundred bytes each. */
	private static final int MAX_REPEATED = 10_000;

	/**
	 * Something that is to be renewed.
	 */
	public interface Renewal {

		/**
		 * Names what is renewed.
		 * @return the key
		 */
		String key();

		/**
		 * Makes the request, as late as possible.
		 * @param now the present time
		 * @return the request, or null if it is not needed any more
		 */
		@Nullable RenewRequest renewRequest(long now);

		/**
		 * Receives the result.
		 * @param result the result, {@link RenewResult#UNKNOWN} without an answer
		 * @param sent when the request was sent
		 * @param ttl what was requested, in nanoseconds
		 * @param now the present time
		 */
		void renewed(RenewResult result, long sent, long ttl, long now);

	}

	/**
	 * A release in the background.
	 *
	 * @param afterwards receives the result once, or null if the first try had none; null
	 * if that has happened, or is not wanted
	 * @param until when the lease is over
	 */
	private record Release(ReleaseRequest request, @Nullable Consumer<@Nullable ReleaseResult> afterwards, long until) {

		void done(@Nullable ReleaseResult result) {
			if (this.afterwards != null) {
				this.afterwards.accept(result);
			}
		}

		Release withoutAfterwards() {
			return new Release(this.request, null, this.until);
		}

	}

	private final StoreClient client;

	private final int batchSize;

	private final Time time;

	private final Executor executor;

	private final Executor reports;

	private final Monitor monitor = new Monitor();

	/** Guarded by monitor. */
	private final Map<String, ServerQueue> queues = new HashMap<>();

	/** The shards whose last request took all of its time. */
	private final Set<String> silent = ConcurrentHashMap.newKeySet();

	/** The shards whose releases wait for a moment before they are repeated. */
	private final Set<String> repeating = ConcurrentHashMap.newKeySet();

	private volatile boolean stopping;

	/**
	 * Creates a dispatcher without a thread.
	 * @param client sends the requests
	 * @param batchSize most renewals in one request
	 * @param time the clock
	 * @param executor runs the queue of each server, side by side
	 * @param reports writes what the log has to say
	 */
	public StoreDispatcher(StoreClient client, int batchSize, Time time, Executor executor, Executor reports) {
		this.client = client;
		this.batchSize = batchSize;
		this.time = time;
		this.executor = executor;
		this.reports = reports;
	}

	/**
	 * Renews in the background, in as few requests as possible.
	 * @param renewals what to renew
	 */
	public void renew(List<? extends Renewal> renewals) {
		Map<String, List<Renewal>> byShard = new HashMap<>();
		for (Renewal renewal : renewals) {
			byShard.computeIfAbsent(this.client.shard(renewal.key()), (shard) -> new ArrayList<>()).add(renewal);
		}
		byShard.forEach((shard, some) -> put(shard, (queue) -> queue.renewals.addAll(some)));
	}

	/**
	 * Releases in the background, and repeats that until it has a result or the lease is
	 * over.
	 * @param request the request
	 * @param afterwards receives the result, or null if the first try had none; or null
	 */
	public void release(ReleaseRequest request, @Nullable Consumer<@Nullable ReleaseResult> afterwards) {
		long until = this.time.nanoTime() + request.ttl().toNanos();
		Release release = new Release(request, afterwards, until);
		put(this.client.shard(request.key()), (queue) -> queue.add(release));
	}

	/**
	 * Repeats in the background a release for whose result a caller has waited in vain.
	 * @param request the request
	 * @param sent when the caller sent it
	 */
	public void repeat(ReleaseRequest request, long sent) {
		if (isSlow(request, sent)) {
			this.silent.add(this.client.shard(request.key()));
		}
		release(request.elapsed(Duration.ofNanos(this.time.nanoTime() - sent)), null);
	}

	/** A driver that repeats a request itself may give up a little early. */
	private boolean isSlow(ReleaseRequest request, long sent) {
		return this.time.nanoTime() - sent >= this.client.timeout(request.ttl()).toNanos() / 2;
	}

	/**
	 * Returns whether the server of a key did not answer the last request in time.
	 * @param key the key
	 * @return whether a release of this key is better left to the background
	 */
	public boolean isSilent(String key) {
		return !this.silent.isEmpty() && this.silent.contains(this.client.shard(key));
	}

	/**
	 * The server of a key has answered a request of a caller, so its releases wait no
	 * longer. Costs next to nothing unless one had no result.
	 * @param key the key
	 */
	public void answered(String key) {
		if (this.silent.isEmpty() && this.repeating.isEmpty()) {
			return;
		}
		String shard = this.client.shard(key);
		boolean silence = this.silent.remove(shard);
		if (this.repeating.contains(shard)) {
			put(shard, (queue) -> queue.answered(silence));
		}
	}

	/**
	 * Ends the repetitions: what is left is tried once more, without a pause.
	 */
	public void endRepetitions() {
		this.stopping = true;
		try (Monitor entered = this.monitor.enter()) {
			this.queues.values().forEach(ServerQueue::wake);
		}
	}

	/** Adds something to the queue of a shard, and starts all queues without a thread. */
	private void put(String shard, Consumer<ServerQueue> what) {
		List<ServerQueue> present;
		try (Monitor entered = this.monitor.enter()) {
			ServerQueue queue = this.queues.computeIfAbsent(shard, ServerQueue::new);
			what.accept(queue);
			queue.wake();
			present = List.copyOf(this.queues.values());
		}
		for (ServerQueue queue : present) {
			if (queue.running.compareAndSet(false, true) && !start(queue)) {
				queue.giveUp();
			}
		}
	}

	private boolean start(ServerQueue queue) {
		try {
			this.executor.execute(queue);
			return true;
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			queue.running.set(false);
			this.reports.execute(() -> logger
				.error("The thread that renews locks could not be started and will be tried again", ex));
			return false;
		}
	}

	/**
	 * Returns whether nothing is left to send. A queue that could get no thread does not
	 * count: nothing works on it.
	 * @return false while a thread sends something
	 */
	public boolean isIdle() {
		try (Monitor entered = this.monitor.enter()) {
			return this.queues.values().stream().noneMatch((queue) -> queue.running.get());
		}
	}

	/**
	 * What is to be sent to one server.
	 */
	private final class ServerQueue implements Runnable {

		private final String shard;

		private final Queue<Renewal> renewals = new ConcurrentLinkedQueue<>();

		private final Queue<Release> releases = new ConcurrentLinkedQueue<>();

		private final AtomicBoolean running = new AtomicBoolean();

		/** The thread that waits before it repeats releases. Guarded by monitor. */
		private @Nullable Thread pausing;

		/** When releases may be tried again; null if they may now. */
		private volatile @Nullable Long repeatAt;

		/** When an answer to a caller may end a pause; null if it may now. */
		private @Nullable Long answersFrom;

		ServerQueue(String shard) {
			this.shard = shard;
		}

		@Override
		public void run() {
			do {
				try {
					while (renewSome() || releaseOne()) {
						continue;
					}
					if (!pause()) {
						return;
					}
				}
				catch (Throwable ex) {
					report(ex);
				}
			}
			while (!end());
		}

		/** Returns false if something has been added meanwhile. */
		private boolean end() {
			try (Monitor entered = StoreDispatcher.this.monitor.enter()) {
				if (!this.renewals.isEmpty() || !this.releases.isEmpty()) {
					return false;
				}
				this.running.set(false);
				StoreDispatcher.this.queues.remove(this.shard, this);
				StoreDispatcher.this.repeating.remove(this.shard);
				StoreDispatcher.this.silent.remove(this.shard);
				return true;
			}
		}

		/** A message may call for a release that is to be repeated anyway. */
		void add(Release release) {
			ReleaseRequest request = release.request;
			if (release.afterwards != null || this.releases.stream()
				.map(Release::request)
				.noneMatch((present) -> present.equals(request)
						|| (request.ttl().isZero() && present.token().equals(request.token())))) {
				this.releases.add(release);
			}
		}

		/** Waits before releases are repeated. Returns false if this run is over. */
		private boolean pause() {
			Long until;
			try (Monitor entered = StoreDispatcher.this.monitor.enter()) {
				until = this.repeatAt;
				if (until == null || StoreDispatcher.this.stopping || this.releases.isEmpty()
						|| !this.renewals.isEmpty()) {
					return true;
				}
				this.pausing = Thread.currentThread();
			}
			boolean goOn = StoreDispatcher.this.time.pause(this, until - now());
			// with the flag set it could not park any more
			Thread.interrupted();
			try (Monitor entered = StoreDispatcher.this.monitor.enter()) {
				this.pausing = null;
				this.running.set(goOn || !this.renewals.isEmpty());
				return this.running.get();
			}
		}

		/** Ends a pause. Called under monitor. */
		void wake() {
			if (this.pausing != null) {
				StoreDispatcher.this.time.unpark(this.pausing);
			}
		}

		/** A caller has got an answer. Called under monitor. */
		void answered(boolean silence) {
			if (silence || this.answersFrom == null || now() - this.answersFrom >= 0) {
				this.answersFrom = now() + REPEAT_INTERVAL_NANOS;
				answered();
			}
		}

		private void answered() {
			this.repeatAt = null;
			StoreDispatcher.this.repeating.remove(this.shard);
			StoreDispatcher.this.silent.remove(this.shard);
		}

		private void report(Throwable ex) {
			StoreDispatcher.this.reports
				.execute(() -> logger.error("The dispatcher of lock requests goes on after an error", ex));
		}

		private boolean renewSome() {
			long sent = now();
			List<Renewal> batch = new ArrayList<>();
			List<RenewRequest> requests = new ArrayList<>();
			Renewal renewal;
			while (requests.size() < StoreDispatcher.this.batchSize && (renewal = this.renewals.poll()) != null) {
				try {
					RenewRequest request = renewal.renewRequest(sent);
					if (request != null) {
						requests.add(request);
						batch.add(renewal);
					}
				}
				catch (RuntimeException | Error ex) {
					report(ex);
				}
			}
			if (requests.isEmpty()) {
				return false;
			}
			List<RenewResult> results = StoreDispatcher.this.client.renewAll(requests);
			if (results.stream().anyMatch((result) -> result != RenewResult.UNKNOWN)) {
				answered();
			}
			for (int i = 0; i < batch.size(); i++) {
				try {
					batch.get(i).renewed(results.get(i), sent, requests.get(i).ttl().toNanos(), now());
				}
				catch (RuntimeException | Error ex) {
					report(ex);
				}
			}
			return true;
		}

		private boolean releaseOne() {
			Long notBefore = this.repeatAt;
			if (notBefore != null && now() - notBefore < 0 && !StoreDispatcher.this.stopping) {
				return false;
			}
			Release release = this.releases.poll();
			if (release == null) {
				return false;
			}
			long sent = now();
			ReleaseResult result;
			try {
				result = StoreDispatcher.this.client.release(release.request,
						StoreDispatcher.this.client.timeout(release.request.ttl()));
			}
			catch (RuntimeException | Error ex) {
				String key = release.request.key();
				StoreDispatcher.this.reports.execute(() -> logger
					.debug("Lock '{}' could not be released in the background: {}", key, ex.toString()));
				if (isSlow(release.request, sent)) {
					StoreDispatcher.this.silent.add(this.shard);
				}
				repeatLater(release);
				return false;
			}
			answered();
			release.done(result);
			return true;
		}

		/** Those that wait for a release are told, and all are tried again. */
		private void repeatLater(Release failed) {
			try (Monitor entered = StoreDispatcher.this.monitor.enter()) {
				this.repeatAt = now() + REPEAT_INTERVAL_NANOS;
				StoreDispatcher.this.repeating.add(this.shard);
			}
			List<Release> present = takeReleases();
			present.add(failed);
			present.stream()
				.filter((release) -> now() - release.until < 0 && !StoreDispatcher.this.stopping)
				.limit(MAX_REPEATED)
				.forEach((release) -> this.releases.add(release.withoutAfterwards()));
			present.forEach((release) -> release.done(null));
		}

		private List<Release> takeReleases() {
			List<Release> taken = new ArrayList<>();
			Release next;
			while ((next = this.releases.poll()) != null) {
				taken.add(next);
			}
			return taken;
		}

		/**
		 * There is no thread: renewals are left to the next look of the watchdog, and
		 * those that wait for a release are told.
		 */
		void giveUp() {
			List<Release> present;
			try (Monitor entered = StoreDispatcher.this.monitor.enter()) {
				present = takeReleases();
				present.forEach((release) -> this.releases.add(release.withoutAfterwards()));
			}
			Renewal renewal;
			while ((renewal = this.renewals.poll()) != null) {
				renewal.renewed(RenewResult.UNKNOWN, now(), 0, now());
			}
			present.forEach((release) -> release.done(null));
		}

		private long now() {
			return StoreDispatcher.this.time.nanoTime();
		}

	}

}
