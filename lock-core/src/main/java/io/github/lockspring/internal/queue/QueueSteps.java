package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;

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
	static final long TOKENS_PER_ENTRY = 2L * Integer.highestOneBit(OwnerToken.MAX_FENCING_TOKENS - 1);

	private final EntryServer server;

	private final Map<OwnerToken, Place> places;

	private final Map<String, QueueInbox> inboxes;

	private final QueueEnds ends;

	QueueSteps(EntryServer server, Map<OwnerToken, Place> places, Map<String, QueueInbox> inboxes) {
		this.server = server;
		this.places = places;
		this.inboxes = inboxes;
		this.ends = new QueueEnds(server, places);
	}

	QueueEnds ends() {
		return this.ends;
	}

	static long millis(Duration duration) {
		return Math.max(1, duration.plusNanos(999_999).toMillis());
	}

	// acquire

	CompletionStage<AcquireResult> attempt(Place place, AcquireRequest request) {
		long start = System.nanoTime();
		Entry.Own present = place.entry();
		if (place.isKept()) {
			return this.server.list(place.key()).thenCompose((queue) -> busy(queue, Long.MAX_VALUE));
		}
		if (present != null) {
			return this.server.list(place.key())
				.thenCompose((queue) -> position(place, request, present, queue, start, false));
		}
		if (request.queue() || place.isUnsure()) {
			return enter(place, request, start);
		}
		// adding an entry without need could make the lock look busy to others
		return this.server.list(place.key()).thenCompose((queue) -> {
			if (queue.isEmpty()) {
				return enter(place, request, start);
			}
			this.places.remove(place.token(), place);
			return busy(queue, Long.MAX_VALUE);
		});
	}

	private CompletionStage<AcquireResult> enter(Place place, AcquireRequest request, long start) {
		long ttl = millis(request.ttl());
		long millis = request.queue() ? place.token().grantMillis() : ttl;
		boolean repeated = place.isUnsure();
		Place present = this.places.putIfAbsent(place.token(), place);
		if (present != null && present != place) {
			return present.then(() -> attempt(present, request));
		}
		place.unsure();
		return this.server.add(place.key(), place.token(), repeated, ttl, Entry.Content.text(ttl, false))
			.thenCompose((added) -> {
				place.entered(added.entry(), millis);
				return position(place, request, added.entry(), added.queue(), start, true);
			});
	}

	private CompletionStage<AcquireResult> position(Place place, AcquireRequest request, Entry.Own entry,
			List<? extends Entry> queue, long start, boolean added) {
		int index = index(queue, entry);
		if (index < 0) {
			place.left();
			if (added) {
				return failed("The entry of lock '" + place.key() + "' was removed immediately after it was added");
			}
			return attempt(place, request);
		}
		if (index == 0) {
			return owns(place, request, entry, start, !added);
		}
		if (!request.queue() && added) {
			return this.server.remove(entry).thenCompose((removed) -> {
				this.ends.leave(place);
				return busy(queue, entry.order());
			});
		}
		place.attempted(start);
		return waits(place, request, entry, queue, index, start, added);
	}

	private CompletionStage<AcquireResult> waits(Place place, AcquireRequest request, Entry.Own entry,
			List<? extends Entry> queue, int index, long start, boolean added) {
		Entry before = queue.get(index - 1);
		if (place.isWatching(before.id())) {
			return keepAlive(place, entry, request).thenCompose((alive) -> busy(queue, entry.order()));
		}
		return watch(place, before, entry).thenCompose((content) -> {
			if (content.isEmpty()) {
				return this.server.list(place.key())
					.thenCompose((later) -> position(place, request, entry, later, start, added));
			}
			// saves the request that reads the owner's entry
			return done(busy(content, entry.order()));
		});
	}

	/** If the watch may not have begun, the next attempt watches again. */
	private CompletionStage<Optional<Entry.Content>> watch(Place place, Entry before, Entry.Own entry) {
		place.setPredecessor(before.id());
		return this.server.watch(before, entry, () -> predecessorGone(place, entry)).whenComplete((content, ex) -> {
			if (ex != null || content.isEmpty()) {
				place.setPredecessor("");
			}
		});
	}

	/** Renews a waiting entry, which must not end while its instance is alive. */
	private CompletionStage<Boolean> keepAlive(Place place, Entry.Own entry, AcquireRequest request) {
		long half = lease(request.ttl()) / 2;
		if (this.server.isRenewedWhileConnected() || entry.validUntil() - System.nanoTime() > half) {
			return done(true);
		}
		return this.server.renew(List.of(new EntryServer.Renewal(entry, millis(request.ttl()), null)))
			.thenApply((results) -> results.get(0) == RenewResult.RENEWED);
	}

	private long lease(Duration ttl) {
		return this.server.traits().lease(ttl).toNanos();
	}

	private CompletionStage<AcquireResult> owns(Place place, AcquireRequest request, Entry.Own entry, long start,
			boolean already) {
		long lease = lease(request.ttl());
		long millis = millis(request.ttl());
		String text = (place.millis() < millis) ? Entry.Content.text(millis, false) : null;
		if (entry.validUntil() - start >= (already ? lease / 2 : 1)) {
			if (!already) {
				// the entry was added with this length
				place.millis(millis);
			}
			else if (text != null) {
				// without waiting for the result: only the inspector reads it
				this.server.write(entry, text, 0).exceptionally((ex) -> false);
				place.millis(millis);
			}
			return done(acquired(place, request, entry, start));
		}
		return this.server.renew(List.of(new EntryServer.Renewal(entry, millis, text))).thenCompose((results) -> {
			if (results.get(0) == RenewResult.UNKNOWN) {
				return failed("It is unknown whether the entry of lock '" + place.key() + "' is still valid");
			}
			if (results.get(0) == RenewResult.NOT_OWNER) {
				place.left();
				return attempt(place, request);
			}
			place.millis(Math.max(place.millis(), millis));
			return done(acquired(place, request, entry, start));
		});
	}

	private AcquireResult acquired(Place place, AcquireRequest request, Entry.Own entry, long start) {
		long ttl = request.ttl().toNanos();
		long lease = Math.min(lease(request.ttl()), entry.validUntil() - start);
		place.own();
		place.extendTo(start + lease);
		this.ends.scheduleEnd(place);
		return new AcquireResult.Acquired(entry.order() * TOKENS_PER_ENTRY,
				(lease < ttl) ? Duration.ofNanos(lease) : null);
	}

	private CompletionStage<AcquireResult> busy(List<? extends Entry> queue, long order) {
		if (queue.isEmpty()) {
			return done(busy(Optional.empty(), order));
		}
		return this.server.read(queue.get(0)).thenApply((content) -> busy(content, order));
	}

	/**
	 * The fencing tokens of all earlier entries are smaller than those of the own entry,
	 * and those of all later entries are larger. Without an own entry, only the first
	 * entry is known.
	 */
	private static AcquireResult busy(Optional<Entry.Content> first, long order) {
		long last = (order != Long.MAX_VALUE) ? order * TOKENS_PER_ENTRY - 1
				: first.map((content) -> (content.order() + 1) * TOKENS_PER_ENTRY - 1).orElse(0L);
		return new AcquireResult.Busy(first.map(Entry.Content::millis).orElse(1L), last);
	}

	private static int index(List<? extends Entry> queue, Entry.Own entry) {
		return queue.stream().map(Entry::id).toList().indexOf(entry.id());
	}

	// when the predecessor is gone

	private void predecessorGone(Place place, Entry.Own entry) {
		place.then(() -> {
			if (this.places.get(place.token()) != place) {
				return done(true);
			}
			if (place.entry() == null) {
				// its session has ended: the next attempt adds a new entry
				deliver(place, (to) -> to.wanted(place.key(), place.token()));
				return done(true);
			}
			return (place.entry() == entry && !place.isOwned()) ? checkPosition(place, entry) : done(true);
		});
	}

	private CompletionStage<Boolean> checkPosition(Place place, Entry.Own entry) {
		place.setPredecessor("");
		return this.server.list(place.key()).thenCompose((queue) -> {
			int index = index(queue, entry);
			if (index == 0) {
				granted(place, entry);
				return done(true);
			}
			if (index < 0) {
				place.left();
				return done(false);
			}
			return watch(place, queue.get(index - 1), entry)
				.thenCompose((content) -> content.isPresent() ? done(true) : checkPosition(place, entry));
		});
	}

	/** Grants the lock to a waiter, which must confirm it before the grant ends. */
	private void granted(Place place, Entry.Own entry) {
		long grant = TimeUnit.MILLISECONDS.toNanos(place.token().grantMillis());
		place.own();
		place.endAt(System.nanoTime() + grant);
		this.ends.scheduleEnd(place);
		boolean certain = entry.validUntil() - place.attempted() >= grant;
		deliver(place, (to) -> {
			if (certain) {
				to.granted(place.key(), place.token(), entry.order() * TOKENS_PER_ENTRY, true);
			}
			else {
				to.wanted(place.key(), place.token());
			}
		});
	}

	/** Delivers a message to the instance of a token. */
	void deliver(Place place, Consumer<InboxListener> message) {
		QueueInbox inbox = this.inboxes.get(place.token().instance());
		if (inbox != null) {
			inbox.deliver(message);
		}
	}

	// renewal

	RenewResult renewed(Place place, EntryServer.Renewal renewal, RenewResult result, long start) {
		if (result != RenewResult.RENEWED) {
			return result;
		}
		if (place.leaseEnd() - System.nanoTime() <= 0 || place.entry() != renewal.entry() || !place.isOwned()) {
			return RenewResult.NOT_OWNER;
		}
		place.extendTo(start + TimeUnit.MILLISECONDS.toNanos(renewal.ttlMillis()));
		if (renewal.text() != null) {
			place.millis(renewal.ttlMillis());
		}
		return result;
	}

	private static <T> CompletionStage<T> done(T value) {
		return CompletableFuture.completedFuture(value);
	}

	private static <T> CompletionStage<T> failed(String message) {
		return CompletableFuture.failedFuture(new LockUnavailableException(message));
	}

}
