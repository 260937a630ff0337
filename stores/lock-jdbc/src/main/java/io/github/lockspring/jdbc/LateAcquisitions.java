package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Repeats the releases of tokens whose acquisition had no answer. Its statement may be
 * executed after the release, and would keep the lock until the lease ends. The release
 * is repeated half a second, one second, two seconds and so on after the first one, until
 * the lease of a statement that is executed at once would be over. So the lock is kept no
 * longer than the statement was late, or half a second. Thread-safe.
 */
/*
 * For maintainers: an entry changes inside ConcurrentHashMap.compute, so an attempt that
 * fails and the release of its token see each other, whichever comes first.
 */
final class LateAcquisitions implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LateAcquisitions.class);

	private static final long FIRST_MILLIS = 500;

	private static final long IDLE_MILLIS = 5_000;

	/** The tokens of an outage, after which the database has other things to do. */
	private static final int MAX_REPEATED = 10_000;

	private final BiConsumer<ReleaseRequest, Duration> releases;

	private final Map<OwnerToken, Attempts> tokens = new ConcurrentHashMap<>();

	private final ScheduledThreadPoolExecutor schedule = new ScheduledThreadPoolExecutor(1,
			new DaemonThreadFactory("lock-jdbc-late"));

	/**
	 * Creates an instance without a thread.
	 * @param releases sends a release
	 */
	LateAcquisitions(BiConsumer<ReleaseRequest, Duration> releases) {
		this.releases = releases;
		this.schedule.setKeepAliveTime(IDLE_MILLIS, TimeUnit.MILLISECONDS);
		this.schedule.allowCoreThreadTimeOut(true);
	}

	/**
	 * Records the beginning of an attempt; {@link #ended} records its end.
	 * @param timeout longest wait for its answer, and for that of a repeated release
	 */
	void begin(AcquireRequest request, Duration timeout) {
		this.tokens.compute(request.token(), (token, before) -> {
			Attempts attempts = (before != null) ? before : new Attempts(request, timeout);
			attempts.underWay++;
			return attempts;
		});
	}

	/**
	 * Records the end of an attempt.
	 * @param certain whether its statements have been executed or never will be
	 */
	void ended(OwnerToken token, boolean certain) {
		this.tokens.computeIfPresent(token, (same, attempts) -> {
			attempts.underWay--;
			attempts.uncertain |= !certain;
			if (!attempts.uncertain) {
				return (attempts.underWay > 0) ? attempts : null;
			}
			return (!attempts.released || repeatLater(attempts)) ? attempts : null;
		});
	}

	/**
	 * A token is being released, and not used for another attempt.
	 */
	void released(OwnerToken token) {
		this.tokens.computeIfPresent(token, (same, attempts) -> {
			attempts.released = true;
			return (!attempts.uncertain || repeatLater(attempts)) ? attempts : null;
		});
	}

	/** Returns false if there is nothing to repeat, now or later. */
	private boolean repeatLater(Attempts attempts) {
		boolean first = !attempts.repeated;
		attempts.repeated = true;
		return !first || (this.tokens.size() <= MAX_REPEATED && schedule(attempts, FIRST_MILLIS, FIRST_MILLIS));
	}

	/**
	 * Plans the next release.
	 * @param delay the time until then
	 * @param elapsed the time from the first release until then
	 */
	private boolean schedule(Attempts attempts, long delay, long elapsed) {
		try {
			this.schedule.schedule(() -> repeat(attempts, elapsed), delay, TimeUnit.MILLISECONDS);
			return true;
		}
		catch (RejectedExecutionException ex) {
			return false;
		}
		catch (Error ex) {
			logger.debug("No thread repeats the release of {}", attempts.request.token(), ex);
			return false;
		}
	}

	private void repeat(Attempts attempts, long elapsed) {
		AcquireRequest request = attempts.request;
		try {
			this.releases.accept(new ReleaseRequest(request.key(), request.token()), attempts.timeout);
		}
		catch (LockUnavailableException ex) {
			logger.debug("The release of {} is repeated later", request.token(), ex);
		}
		if (elapsed >= request.ttl().toMillis() || !schedule(attempts, elapsed, 2 * elapsed)) {
			this.tokens.remove(request.token());
		}
	}

	@Override
	public void close() {
		this.schedule.shutdownNow();
		this.tokens.clear();
	}

	/** The attempts of one token. */
	private static final class Attempts {

		private final AcquireRequest request;

		private final Duration timeout;

		private int underWay;

		/** Whether one of them may be executed later. */
		private boolean uncertain;

		private boolean released;

		private boolean repeated;

		Attempts(AcquireRequest request, Duration timeout) {
			this.request = request;
			this.timeout = timeout;
		}

	}

}
