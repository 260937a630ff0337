package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

import io.github.lockspring.internal.base.DaemonThreadFactory;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.queue.Place.State;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import org.jspecify.annotations.Nullable;

/**
 * Ends the entry of a token, at its release or with its lease. Thread-safe.
 */
/*
 * For maintainers: from its first removal on, an entry is not used again: a removal
 * without a result may be executed at any later time. It is repeated until it has a
 * result; only then the place is free for the next token.
 */
final class QueueEnds {

	/** The engine also repeats releases, for as long as their leases may last. */
	private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long BETWEEN_RETRIES_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

	/** Longer than the engine usually takes to repeat an attempt. */
	private static final long SETTLE_NANOS = TimeUnit.SECONDS.toNanos(5);

	private final EntryServer server;

	private final Map<Place.Id, Place> places;

	private final LongSupplier clock;

	private final ScheduledThreadPoolExecutor timer;

	QueueEnds(EntryServer server, Map<Place.Id, Place> places, LongSupplier clock) {
		this.server = server;
		this.places = places;
		this.clock = clock;
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
		Entry.Own entry = place.entry();
		if (!place.token().equals(request.token()) || place.is(State.FREE)) {
			dropIfFree(place);
			return notOwner(request.key());
		}
		if (place.is(State.KEPT)) {
			return Stages.done(request.keep().isZero() ? new ReleaseResult.NotOwner(0) : new ReleaseResult.Released());
		}
		if (place.is(State.OWNED) && !request.keep().isZero()) {
			place.keeping(this.clock.getAsLong() + request.keep().toNanos());
		}
		if (entry != null && place.is(State.KEEPING)) {
			return keep(place, entry);
		}
		boolean repeated = place.isBeingRemoved();
		boolean entered = entry != null;
		place.removing();
		boolean owned = place.wasOwned();
		return remove(place).thenCompose((there) -> {
			if (there) {
				return Stages.done(owned ? new ReleaseResult.Released() : new ReleaseResult.NotOwner(0));
			}
			if (entry != null && owned && !repeated) {
				return Stages.done(lost(entry));
			}
			return entered ? Stages.done(new ReleaseResult.NotOwner(0)) : notOwner(request.key());
		});
	}

	/** Repeated until it has a result: the next token must not get the lock before. */
	private CompletionStage<ReleaseResult> keep(Place place, Entry.Own entry) {
		Duration keep = Duration.ofNanos(Math.max(0, place.leaseEnd() - this.clock.getAsLong()));
		return this.server.keep(entry, QueueSteps.millis(keep)).whenComplete((there, ex) -> {
			if (ex != null) {
				retryLater(place);
			}
		}).thenCompose((there) -> {
			if (!there) {
				// told also if that has no answer, which is repeated
				return remove(place).handle((gone, ex) -> lost(entry));
			}
			place.kept();
			scheduleEnd(place);
			return Stages.done(new ReleaseResult.Released());
		});
	}

	/** Somebody took the entry away, and others may have owned the lock since. */
	private static ReleaseResult lost(Entry.Own entry) {
		return new ReleaseResult.NotOwner(QueueSteps.firstToken(entry.order() + 1));
	}

	CompletionStage<ReleaseResult> notOwner(String key) {
		return this.server.first(key)
			.thenApply((first) -> new ReleaseResult.NotOwner(
					first.map((content) -> QueueSteps.firstToken(content.order())).orElse(0L)));
	}

	/**
	 * Removes the entry of a place, which is not used again.
	 * @return whether there was one
	 */
	CompletionStage<Boolean> remove(Place place) {
		place.removing();
		return (place.is(State.SETTLING) ? settle(place) : remove(place, place.entry())).whenComplete((there, ex) -> {
			if (ex == null) {
				place.removed();
				dropIfFree(place);
			}
			else {
				retryLater(place);
			}
		});
	}

	private CompletionStage<Boolean> settle(Place place) {
		return this.server.settle(place.key(), place.token()).thenCompose((found) -> {
			if (found != null) {
				place.settled(found);
			}
			return remove(place, found);
		});
	}

	private CompletionStage<Boolean> remove(Place place, Entry.@Nullable Own entry) {
		return (entry != null) ? this.server.remove(entry) : Stages.done(false);
	}

	private void dropIfFree(Place place) {
		if (place.is(State.FREE)) {
			this.places.remove(place.id(), place);
		}
	}

	// the end of a lease

	void scheduleEnd(Place place) {
		endAfter(place, Math.max(0, place.leaseEnd() - this.clock.getAsLong()));
	}

	/** An addition has no result: it is settled, unless it is repeated soon. */
	void scheduleSettling(Place place) {
		endAfter(place, SETTLE_NANOS);
	}

	private void timeOut(Place place) {
		place.then(() -> {
			if (place.isBeingRemoved()) {
				return remove(place);
			}
			if (place.is(State.FREE) || place.is(State.WAITING)) {
				// this timer was for an earlier entry
				return Stages.done(true);
			}
			Entry.Own entry = place.entry();
			// without an entry, an addition has no result
			if (entry == null || place.leaseEnd() - this.clock.getAsLong() <= 0) {
				return remove(place);
			}
			if (place.is(State.KEEPING)) {
				return keep(place, entry).thenApply((result) -> true);
			}
			scheduleEnd(place);
			return Stages.done(true);
		});
	}

	/**
	 * At different times if there are many entries, to spare a server that has just
	 * restarted.
	 */
	private void retryLater(Place place) {
		long spread = this.places.size() * BETWEEN_RETRIES_NANOS;
		endAfter(place, Math.max(RETRY_NANOS, ThreadLocalRandom.current().nextLong(spread + 1)));
	}

	private void endAfter(Place place, long nanos) {
		if (!this.timer.isShutdown()) {
			place.setTimer(this.timer.schedule(() -> timeOut(place), nanos, TimeUnit.NANOSECONDS));
		}
	}

	void close() {
		this.timer.shutdown();
	}

}
