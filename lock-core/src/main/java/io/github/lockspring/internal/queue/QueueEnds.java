package io.github.lockspring.internal.queue;

import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * Ends the entry of a token, at its release or with its lease. Thread-safe.
 */
final class QueueEnds {

	private static final long RETRY_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

	private static final long BETWEEN_RETRIES_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	private final EntryServer server;

	private final Map<OwnerToken, Place> places;

	private final ScheduledThreadPoolExecutor timer;

	QueueEnds(EntryServer server, Map<OwnerToken, Place> places) {
		this.server = server;
		this.places = places;
		this.timer = new ScheduledThreadPoolExecutor(1, new DaemonThreadFactory("lock-queue-timer"));
		this.timer.setRemoveOnCancelPolicy(true);
		this.timer.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
		this.timer.setKeepAliveTime(30, TimeUnit.SECONDS);
		this.timer.allowCoreThreadTimeOut(true);
	}

	ScheduledThreadPoolExecutor timer() {
		return this.timer;
	}

	// release

	CompletionStage<ReleaseResult> release(Place place, ReleaseRequest request) {
		return tryRelease(place, request).whenComplete((result, ex) -> {
			if (ex != null && !place.isOwned() && !place.isKept()) {
				// a waiting entry has no lease that would end it
				place.releaseFailed();
				retryLater(place);
			}
		});
	}

	private CompletionStage<ReleaseResult> tryRelease(Place place, ReleaseRequest request) {
		Entry.Own entry = place.entry();
		if (entry == null && place.isUnsure()) {
			return this.server.find(place.key(), place.token())
				.thenCompose((found) -> removeUnsure(place, request.key(), found));
		}
		if (entry == null) {
			leave(place);
			return notOwner(request.key());
		}
		if (place.isKept()) {
			return done(request.keep().isZero() ? new ReleaseResult.NotOwner(0) : new ReleaseResult.Released());
		}
		boolean owned = place.isOwned();
		if (owned && !request.keep().isZero()) {
			return keep(place, entry, request);
		}
		boolean repeated = place.isUnsure();
		place.unsure();
		return this.server.remove(entry).thenCompose((there) -> {
			leave(place);
			if (there && owned) {
				return done(new ReleaseResult.Released());
			}
			return (there || repeated) ? done(new ReleaseResult.NotOwner(0)) : notOwner(request.key());
		});
	}

	private CompletionStage<ReleaseResult> removeUnsure(Place place, String key, Entry.@Nullable Own found) {
		if (found == null) {
			leave(place);
			return notOwner(key);
		}
		return this.server.remove(found).thenApply((there) -> {
			leave(place);
			return new ReleaseResult.NotOwner(0);
		});
	}

	private CompletionStage<ReleaseResult> keep(Place place, Entry.Own entry, ReleaseRequest request) {
		long millis = QueueSteps.millis(request.keep());
		return this.server.write(entry, Entry.Content.text(millis, true), millis).thenCompose((there) -> {
			if (!there) {
				leave(place);
				return notOwner(request.key());
			}
			place.keep();
			place.endAt(System.nanoTime() + request.keep().toNanos());
			scheduleEnd(place);
			return done(new ReleaseResult.Released());
		});
	}

	CompletionStage<ReleaseResult> notOwner(String key) {
		return this.server.list(key)
			.thenCompose(
					(queue) -> queue.isEmpty() ? done(Optional.<Entry.Content>empty()) : this.server.read(queue.get(0)))
			.thenApply((first) -> new ReleaseResult.NotOwner(
					first.map((content) -> content.order() * QueueSteps.TOKENS_PER_ENTRY).orElse(0L)));
	}

	void leave(Place place) {
		place.left();
		place.setTimer(null);
		this.places.remove(place.token(), place);
	}

	// the end of a lease

	void scheduleEnd(Place place) {
		endAfter(place, Math.max(0, place.leaseEnd() - System.nanoTime()));
	}

	private void end(Place place) {
		place.then(() -> {
			if (place.entry() == null && !place.isUnsure()) {
				leave(place);
				return done(true);
			}
			if (!place.hasReleaseFailed() && !place.isOwned() && !place.isKept()) {
				// the token has lost its entry since, and waits again
				return done(true);
			}
			if (!place.hasReleaseFailed() && place.leaseEnd() - System.nanoTime() > 0) {
				scheduleEnd(place);
				return done(true);
			}
			return remove(place).whenComplete((removed, ex) -> {
				if (ex == null) {
					leave(place);
				}
				else {
					retryLater(place);
				}
			});
		});
	}

	private CompletionStage<Boolean> remove(Place place) {
		Entry.Own entry = place.entry();
		return (entry != null) ? this.server.remove(entry) : this.server.find(place.key(), place.token())
			.thenCompose((found) -> (found != null) ? this.server.remove(found) : done(true));
	}

	/**
	 * Waits longer if there are many entries, to spare a server that has just restarted.
	 */
	private void retryLater(Place place) {
		endAfter(place, Math.max(RETRY_NANOS, this.places.size() * BETWEEN_RETRIES_NANOS));
	}

	private void endAfter(Place place, long nanos) {
		if (!this.timer.isShutdown()) {
			place.setTimer(this.timer.schedule(() -> end(place), nanos, TimeUnit.NANOSECONDS));
		}
	}

	void close() {
		this.timer.shutdown();
	}

	private static <T> CompletionStage<T> done(T value) {
		return CompletableFuture.completedFuture(value);
	}

}
