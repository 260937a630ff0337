package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.LongSupplier;

import io.github.lockspring.internal.Stages;
import io.github.lockspring.internal.queue.EntryServer.Position;
import io.github.lockspring.internal.queue.Place.State;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The steps by which a token acquires a lock and keeps it. Thread-safe.
 */
/*
 * For maintainers: this process removes an entry at the end of its lease. The holder's
 * deadline is earlier, since it counts from before the request was sent and allows for
 * drift. A renewal whose result arrives after the end of the entry does not count. If
 * this process cannot remove the entry, the server does so, but not before
 * Entry.Own#validUntil; no lease is longer than that.
 *
 * A grant is sent as a message only if the entry is certain to be valid for the whole
 * grant, which the receiver counts from its last attempt. Otherwise the receiver is asked
 * to attempt again, which proves that the entry is valid.
 */
final class QueueSteps {

	/** A power of two that is large enough for the fencing tokens of an ownership. */
	private static final long TOKENS_PER_ENTRY = 2L * Integer.highestOneBit(OwnerToken.MAX_FENCING_TOKENS - 1);

	/** How long a waiter relies on its watch. */
	private static final long WATCHED_NANOS = TimeUnit.SECONDS.toNanos(5);

	/** An ownership that begins with less is renewed first, if its lease is longer. */
	private static final long ENOUGH_NANOS = TimeUnit.MILLISECONDS.toNanos(2_500);

	private final String name;

	private final EntryServer server;

	private final Map<Place.Id, Place> places;

	private final Map<String, QueueInbox> inboxes;

	private final LongSupplier clock;

	private final QueueEnds ends;

	QueueSteps(String name, EntryServer server, Map<Place.Id, Place> places, Map<String, QueueInbox> inboxes,
			LongSupplier clock) {
		this.name = name;
		this.server = server;
		this.places = places;
		this.inboxes = inboxes;
		this.clock = clock;
		this.ends = new QueueEnds(server, places, clock);
	}

	QueueEnds ends() {
		return this.ends;
	}

	/** Returns the first fencing token of an entry. */
	static long firstToken(long order) {
		return order * TOKENS_PER_ENTRY;
	}

	/** Returns the last fencing token of an entry. */
	static long lastToken(long order) {
		return firstToken(order + 1) - 1;
	}

	static long millis(Duration duration) {
		return Math.max(1, duration.plusNanos(999_999).toMillis());
	}

	// acquire

	/**
	 * Makes an attempt, as the next step of a place.
	 * @param deadline when its result is not needed any more; then nothing is sent
	 */
	CompletionStage<AcquireResult> attempt(Place place, AcquireRequest request, long deadline) {
		// an earlier step may have removed it, and another attempt put in the next one
		Place present = this.places.putIfAbsent(place.id(), place);
		if (present != null && present != place) {
			return present.then(() -> attempt(present, request, deadline));
		}
		long start = this.clock.getAsLong();
		if (start - deadline > 0) {
			return Stages.failed("An earlier request for " + describe(place)
					+ " has not been answered in time, so nothing was sent");
		}
		if (place.is(State.KEEPING)) {
			return busy(place.key());
		}
		if (place.is(State.KEPT)) {
			return kept(place, request, deadline);
		}
		if (place.isBeingRemoved()) {
			return this.ends.remove(place).thenCompose((there) -> attempt(place, request, deadline));
		}
		if (request.token().sequence() < place.token().sequence()) {
			return Stages.failed("A later request of this instance has taken the place of " + describe(place));
		}
		if (!place.token().equals(request.token())) {
			return useBy(request.token(), place, request, deadline);
		}
		Entry.Own entry = place.entry();
		if (entry == null) {
			return enter(place, request, start);
		}
		if (entry.isOver()) {
			place.removing();
			return attempt(place, request, deadline);
		}
		return place.is(State.OWNED) ? owns(place, request, entry, start) : again(place, request, entry, start);
	}

	/**
	 * An entry that is kept may have been taken away, or may have ended before its time.
	 */
	private CompletionStage<AcquireResult> kept(Place place, AcquireRequest request, long deadline) {
		Entry.Own entry = place.entry();
		return this.server.first(place.key()).thenCompose((first) -> {
			boolean there = entry != null && !entry.isOver()
					&& first.filter((content) -> content.order() == entry.order()).isPresent();
			if (there) {
				return Stages.done(busy(first, null));
			}
			return this.ends.remove(place).thenCompose((done) -> attempt(place, request, deadline));
		});
	}

	/** The next token adds its entry when the one before is gone. */
	private CompletionStage<AcquireResult> useBy(OwnerToken token, Place place, AcquireRequest request, long deadline) {
		if (place.is(State.FREE)) {
			place.begin(token);
		}
		else {
			place.removing();
		}
		return attempt(place, request, deadline);
	}

	private CompletionStage<AcquireResult> enter(Place place, AcquireRequest request, long start) {
		if (request.queue() || place.is(State.UNKNOWN)) {
			return add(place, request, start);
		}
		// adding an entry without need could make the lock look busy to others
		return this.server.first(place.key()).thenCompose((first) -> {
			if (first.isEmpty()) {
				return add(place, request, start);
			}
			this.places.remove(place.id(), place);
			return Stages.done(busy(first, null));
		});
	}

	private CompletionStage<AcquireResult> add(Place place, AcquireRequest request, long start) {
		boolean repeated = place.is(State.UNKNOWN);
		place.adding();
		CompletionStage<EntryServer.Added> addition = this.server.add(place.key(), place.token(), millis(request.ttl()),
				repeated);
		return addition.whenComplete((added, ex) -> {
			if (ex != null && !repeated && Stages.unavailable(ex).isPermanent()) {
				// refused: there is nothing to settle
				place.removed();
			}
			else if (ex != null) {
				// the token may have been released already
				this.ends.scheduleSettling(place);
			}
		}).thenCompose((added) -> {
			Entry.Own entry = added.entry();
			place.added(entry);
			Position position = added.position();
			if (position != null && position.before() != null && !request.queue()) {
				return this.ends.remove(place).thenApply((there) -> busy(Optional.of(position.first()), entry));
			}
			return position(place, request, entry, Optional.ofNullable(position), start);
		});
	}

	/** An attempt of a waiting entry. */
	private CompletionStage<AcquireResult> again(Place place, AcquireRequest request, Entry.Own entry, long start) {
		Position watched = place.watched(start - WATCHED_NANOS);
		if (watched != null && entry.validUntil() - start > 0) {
			place.attempted(start);
			return Stages.done(busy(Optional.of(watched.first()), entry));
		}
		return readPosition(place, request, entry, start);
	}

	private CompletionStage<AcquireResult> readPosition(Place place, AcquireRequest request, Entry.Own entry,
			long start) {
		return this.server.position(entry).thenCompose((position) -> position(place, request, entry, position, start));
	}

	private CompletionStage<AcquireResult> position(Place place, AcquireRequest request, Entry.Own entry,
			Optional<Position> position, long start) {
		if (position.isEmpty()) {
			return ended(place, "was removed by somebody else");
		}
		Entry before = position.get().before();
		if (before == null) {
			return owns(place, request, entry, start);
		}
		return watch(place, entry, before).thenCompose((there) -> {
			if (!there) {
				return readPosition(place, request, entry, start);
			}
			place.waits(position.get(), start);
			return Stages.done(busy(Optional.of(position.get().first()), entry));
		});
	}

	private CompletionStage<Boolean> watch(Place place, Entry.Own entry, Entry before) {
		if (place.isWatching(before)) {
			return Stages.done(true);
		}
		place.watch(before);
		return this.server.watch(before, entry, () -> predecessorGone(place, entry)).whenComplete((there, ex) -> {
			if (ex != null || !there) {
				place.notWatching();
			}
		});
	}

	private long lease(Duration ttl) {
		return this.server.traits().lease(ttl).toNanos();
	}

	private CompletionStage<AcquireResult> owns(Place place, AcquireRequest request, Entry.Own entry, long start) {
		if (entry.validUntil() - start >= Math.min(lease(request.ttl()) / 4, ENOUGH_NANOS)) {
			return acquired(place, request, entry, start);
		}
		long sent = this.clock.getAsLong();
		return this.server.renew(List.of(new EntryServer.Renewal(entry, 1))).thenCompose((there) -> {
			if (!there.contains(entry)) {
				return ended(place, "has ended");
			}
			return (entry.validUntil() - sent > 0) ? acquired(place, request, entry, start) : notProven(place);
		});
	}

	/** It is asked for again, when there may be a proof. */
	private CompletionStage<AcquireResult> notProven(Place place) {
		return Stages.failed("It is not proven that the entry of " + describe(place) + " is still valid");
	}

	/** What is left of an entry is removed before the next attempt adds another one. */
	private CompletionStage<AcquireResult> ended(Place place, String why) {
		return this.ends.remove(place)
			.thenCompose((there) -> Stages.failed("The entry of " + describe(place) + " " + why));
	}

	private String describe(Place place) {
		return "lock '" + place.key() + "' in " + this.name;
	}

	private CompletionStage<AcquireResult> acquired(Place place, AcquireRequest request, Entry.Own entry, long start) {
		long ttl = request.ttl().toNanos();
		long lease = Math.min(lease(request.ttl()), entry.validUntil() - start);
		if (lease <= 0) {
			return notProven(place);
		}
		long end = start + lease;
		boolean longer = place.is(State.OWNED) && place.leaseEnd() - end > 0;
		place.owned(longer ? place.leaseEnd() : end);
		this.ends.scheduleEnd(place);
		return Stages.done(
				new AcquireResult.Acquired(firstToken(entry.order()), (lease < ttl) ? Duration.ofNanos(lease) : null));
	}

	private CompletionStage<AcquireResult> busy(String key) {
		return this.server.first(key).thenApply((first) -> busy(first, null));
	}

	/**
	 * The fencing tokens of all earlier entries are smaller than those of the own entry,
	 * and those of all later entries are larger. Without an own entry, only the first
	 * entry is known.
	 */
	private static AcquireResult busy(Optional<Entry.Content> first, Entry.@Nullable Own entry) {
		long last = (entry != null) ? firstToken(entry.order()) - 1
				: first.map((content) -> lastToken(content.order())).orElse(0L);
		return new AcquireResult.Busy(first.map(Entry.Content::millis).orElse(1L), last);
	}

	// when the predecessor is gone

	private void predecessorGone(Place place, Entry.Own entry) {
		place.then(() -> {
			if (place.entry() != entry || !place.is(State.WAITING)) {
				return Stages.done(true);
			}
			place.doubt();
			place.notWatching();
			return checkPosition(place, entry);
		});
	}

	private CompletionStage<Boolean> checkPosition(Place place, Entry.Own entry) {
		return this.server.position(entry).thenCompose((position) -> {
			if (position.isEmpty()) {
				// the next attempt adds another one
				place.removing();
				deliver(place, (to) -> to.wanted(place.key(), place.token()));
				return this.ends.remove(place);
			}
			Entry before = position.get().before();
			if (before == null) {
				granted(place, entry);
				return Stages.done(true);
			}
			return watch(place, entry, before)
				.thenCompose((there) -> there ? Stages.done(true) : checkPosition(place, entry));
		});
	}

	/** Grants the lock to a waiter, which must confirm it before the grant ends. */
	private void granted(Place place, Entry.Own entry) {
		long grant = TimeUnit.MILLISECONDS.toNanos(place.token().grantMillis());
		OwnerToken token = place.token();
		place.owned(this.clock.getAsLong() + grant);
		this.ends.scheduleEnd(place);
		boolean certain = entry.validUntil() - place.attempted() >= grant;
		deliver(place, (to) -> {
			if (certain) {
				to.granted(place.key(), token, firstToken(entry.order()), true);
			}
			else {
				to.wanted(place.key(), token);
			}
		});
	}

	/** Delivers a message to the instance of a place. */
	void deliver(Place place, Consumer<InboxListener> message) {
		QueueInbox inbox = this.inboxes.get(place.id().instance());
		if (inbox != null) {
			inbox.deliver(message);
		}
	}

	// renewal

	/** Counts only for the entry for which it was requested, which is there. */
	RenewResult renewed(Place place, OwnerToken token, EntryServer.Renewal renewal, long start) {
		if (place.leaseEnd() - this.clock.getAsLong() <= 0 || !place.isOwnedBy(token, renewal.entry())) {
			return RenewResult.NOT_OWNER;
		}
		long until = start + TimeUnit.MILLISECONDS.toNanos(renewal.ttlMillis());
		if (renewal.entry().validUntil() - until < 0) {
			return RenewResult.UNKNOWN;
		}
		place.extendTo(until);
		return RenewResult.RENEWED;
	}

}
