package io.github.lockspring.internal.engine.support;

import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Releases that no caller waits for. They are sent on the connection that later requests
 * use, or in the background where the store cannot do that. Thread-safe.
 *
 * @since 0.1
 */
public final class AsyncReleases {

	private static final Logger logger = LoggerFactory.getLogger(AsyncReleases.class);

	/** The most releases without a result; a slow server must slow its callers down. */
	private static final int MAX_UNDER_WAY = 1_000;

	private final StoreClient client;

	private final StoreDispatcher dispatcher;

	private final Time time;

	private final Executor reports;

	private final AtomicInteger underWay = new AtomicInteger();

	/**
	 * Creates an instance without any releases.
	 * @param client sends them
	 * @param dispatcher sends those that the store cannot send without waiting, and those
	 * that have failed
	 * @param time the clock
	 * @param reports writes what the log has to say
	 */
	public AsyncReleases(StoreClient client, StoreDispatcher dispatcher, Time time, Executor reports) {
		this.client = client;
		this.dispatcher = dispatcher;
		this.time = time;
		this.reports = reports;
	}

	/**
	 * Releases without waiting for the result.
	 * @param request the request
	 * @param inOrder runs when requests that are sent from then on are carried out after
	 * the release
	 * @param afterwards receives the result, on any thread; is not called without one
	 * @return false if nothing was done, since too many of these releases have no result
	 * yet: the caller has to wait
	 */
	public boolean release(ReleaseRequest request, Runnable inOrder, Consumer<ReleaseResult> afterwards) {
		if (this.underWay.incrementAndGet() > MAX_UNDER_WAY) {
			this.underWay.decrementAndGet();
			return false;
		}
		long sent = this.time.nanoTime();
		CompletionStage<ReleaseResult> reply = this.client.releaseAsync(request).orElse(null);
		if (reply != null) {
			reply.whenComplete((result, failure) -> answered(request, sent, result, failure, afterwards));
			inOrder.run();
		}
		else {
			this.dispatcher.release(request, (result) -> {
				this.underWay.decrementAndGet();
				inOrder.run();
				if (result != null) {
					afterwards.accept(result);
				}
			});
		}
		return true;
	}

	private void answered(ReleaseRequest request, long sent, @Nullable ReleaseResult result,
			@Nullable Throwable failure, Consumer<ReleaseResult> afterwards) {
		try {
			if (result != null) {
				this.client.answered(request.key());
				afterwards.accept(result);
			}
			else {
				Level level = this.client.beginsOutage(request.key()) ? Level.WARN : Level.DEBUG;
				this.reports.execute(() -> logger.atLevel(level)
					.log("Lock '{}' could not be released, which will be tried again: {}", request.key(),
							String.valueOf(failure)));
				this.dispatcher.release(request.elapsed(Duration.ofNanos(this.time.nanoTime() - sent)), null);
			}
		}
		finally {
			// not before: a stop waits for the repetition too
			this.underWay.decrementAndGet();
		}
	}

	/**
	 * Returns whether all releases have a result, or are left to the dispatcher.
	 * @return false while the store has not replied to one of them
	 */
	public boolean isIdle() {
		return this.underWay.get() == 0;
	}

}
