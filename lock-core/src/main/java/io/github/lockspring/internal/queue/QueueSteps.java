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
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;

/**
 * What is done with the entry of one token, step by step. Thread-safe.
 */
/*
 * For maintainers: an entry is removed by this process at the end of its lease. The
 * deadline of its holder is earlier, since that counts from before the request was sent
 * and allows for drift; a result of a renewal that arrives after the entry's end does not
 * count. If this process cannot remove the entry, the server does, after what
 * Entry.Own#validUntil says at the earliest; no lease is longer than that.
 *
 * A grant is sent as a message only if the entry is certainly valid for as long as its
 * receiver will count, from its last attempt; otherwise the receiver is made to attempt
 * again, which proves it first.
 */
final class QueueSteps {

	/** A power of two that is large enough for the fencing tokens of an ownership. */
	static final long TOKENS_PER_ENTRY = 2L * Integer.highestOneBit(OwnerToken.MAX_FENCING_TOKENS - 1);

	private static final long MAX_POLL_GRANT_MILLIS = 500;

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
			return this.server.list(place.key()).thenCompose((queue) -> busy(queue, Long.MAX_VALUE, false));
		}
		if (present != null) {
			return this.server.list(place.key())
				.thenCompose((queue) -> position(place, request, present, queue, start, false));
		}
		if (request.queueMode() != QueueMode.NONE || place.isUnsure()) {
			return enter(place, request, start);
		}
		// an entry that is added in vain could refuse the lock to others meanwhile
		return this.server.list(place.key()).thenCompose((queue) -> {
			if (queue.isEmpty()) {
				return enter(place, request, start);
			}
			this.places.remove(place.token(), place);
			return busy(queue, Long.MAX_VALUE, false);
		});
	}

	private CompletionStage<AcquireResult> enter(Place place, AcquireRequest request, long start) {
		QueueMode mode = request.queueMode();
		boolean polls = mode == QueueMode.POLL;
		long ttl = millis(request.ttl());
		long millis = (mode == QueueMode.NONE) ? ttl : grantMillis(place, polls);
		boolean repeated = place.isUnsure();
		Place present = this.places.putIfAbsent(place.token(), place);
		if (present != null && present != place) {
			return present.then(() -> attempt(present, request));
		}
		place.unsure();
		return this.server
			.add(place.key(), place.token(), repeated, ttl, Entry.Content.text(polls ? millis : ttl, false))
			.thenCompose((added) -> {
				place.entered(added.entry(), polls, millis);
				return position(place, request, added.entry(), added.queue(), start, true);
			});
	}

	private static long grantMillis(Place place, boolean polls) {
		long grant = place.token().grantMillis();
		return polls ? Math.min(MAX_POLL_GRANT_MILLIS, grant) : grant;
	}

	private CompletionStage<AcquireResult> position(Place place, AcquireRequest request, Entry.Own entry,
			List<? extends Entry> queue, long start, boolean added) {
		int index = index(queue, entry);
		if (index < 0) {
			place.left();
			if (added) {
				return failed("The entry of lock '" + place.key() + "' was removed when it had just been added");
			}
			return attempt(place, request);
		}
		if (index == 0) {
			return owns(place, request, entry, start, !added);
		}
		if (request.queueMode() == QueueMode.NONE && added) {
			return this.server.remove(entry).thenCompose((removed) -> {
				this.ends.leave(place);
				return busy(queue, entry.order(), false);
			});
		}
		place.attempted(start);
		return waits(place, request, entry, queue, index, start, added);
	}

	private CompletionStage<AcquireResult> waits(Place place, AcquireRequest request, Entry.Own entry,
			List<? extends Entry> queue, int index, long start, boolean added) {
		Entry before = queue.get(index - 1);
		if (place.isBehind(before.id())) {
			return keepAlive(place, entry, request).thenCompose((alive) -> busy(queue, entry.order(), added));
		}
		return watch(place, before, entry).thenCompose((content) -> {
			if (content.isEmpty()) {
				return this.server.list(place.key())
					.thenCompose((later) -> position(place, request, entry, later, start, added));
			}
			// a request less than to ask what the owner has
			return done(busy(content, entry.order(), added));
		});
	}

	/** A watch that may not have begun is begun again by the next attempt. */
	private CompletionStage<Optional<Entry.Content>> watch(Place place, Entry before, Entry.Own entry) {
		place.waitsBehind(before.id());
		return this.server.watch(before, entry, () -> look(place, entry)).whenComplete((content, ex) -> {
			if (ex != null || content.isEmpty()) {
				place.waitsBehind("");
			}
		});
	}

	/** A waiting entry must not end while its instance is there. */
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
				// as it was added
				place.millis(millis);
			}
			else if (text != null) {
				// nobody waits for it: it is for those who ask how long the lock is taken
				this.server.write(entry, text, 0).exceptionally((ex) -> false);
				place.millis(millis);
			}
			return done(acquired(place, request, entry, start, already));
		}
		return this.server.renew(List.of(new EntryServer.Renewal(entry, millis, text))).thenCompose((results) -> {
			if (results.get(0) == RenewResult.UNKNOWN) {
				return failed("There is no proof that the entry of lock '" + place.key() + "' is still valid");
			}
			if (results.get(0) == RenewResult.NOT_OWNER) {
				place.left();
				return attempt(place, request);
			}
			place.millis(Math.max(place.millis(), millis));
			return done(acquired(place, request, entry, start, already));
		});
	}

	private AcquireResult acquired(Place place, AcquireRequest request, Entry.Own entry, long start, boolean already) {
		long ttl = request.ttl().toNanos();
		long lease = Math.min(lease(request.ttl()), entry.validUntil() - start);
		place.own();
		place.lengthen(start + lease);
		this.ends.time(place);
		return new AcquireResult.Acquired(entry.order() * TOKENS_PER_ENTRY, already,
				(lease < ttl) ? Duration.ofNanos(lease) : null);
	}

	private CompletionStage<AcquireResult> busy(List<? extends Entry> queue, long order, boolean added) {
		if (queue.isEmpty()) {
			return done(busy(Optional.empty(), order, added));
		}
		return this.server.read(queue.get(0)).thenApply((content) -> busy(content, order, added));
	}

	/**
	 * All tokens of earlier entries are smaller than that of the own one, and all later
	 * ones are larger. Without an own one, the first entry is the only known.
	 */
	private static AcquireResult busy(Optional<Entry.Content> first, long order, boolean added) {
		long last = (order != Long.MAX_VALUE) ? order * TOKENS_PER_ENTRY - 1
				: first.map((content) -> (content.order() + 1) * TOKENS_PER_ENTRY - 1).orElse(0L);
		return new AcquireResult.Busy(first.map(Entry.Content::millis).orElse(1L), last, added);
	}

	private static int index(List<? extends Entry> queue, Entry.Own entry) {
		for (int i = 0; i < queue.size(); i++) {
			if (queue.get(i).id().equals(entry.id())) {
				return i;
			}
		}
		return -1;
	}

	// the predecessor is gone

	private void look(Place place, Entry.Own entry) {
		place.then(() -> {
			if (this.places.get(place.token()) != place) {
				return done(true);
			}
			if (place.entry() == null) {
				// its session has ended: an attempt adds it anew
				tell(place, (to) -> to.wanted(place.key(), place.token()));
				return done(true);
			}
			return (place.entry() == entry && !place.isOwned()) ? lookAgain(place, entry) : done(true);
		});
	}

	private CompletionStage<Boolean> lookAgain(Place place, Entry.Own entry) {
		place.waitsBehind("");
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
				.thenCompose((content) -> content.isPresent() ? done(true) : lookAgain(place, entry));
		});
	}

	/** The waiter has as long as its grant lasts to take the lock. */
	private void granted(Place place, Entry.Own entry) {
		long grant = TimeUnit.MILLISECONDS.toNanos(grantMillis(place, place.isPolling()));
		place.own();
		place.endAt(System.nanoTime() + grant);
		this.ends.time(place);
		if (place.isPolling()) {
			return;
		}
		boolean certain = entry.validUntil() - place.attempted() >= grant;
		tell(place, (to) -> {
			if (certain) {
				to.granted(place.key(), place.token(), entry.order() * TOKENS_PER_ENTRY, true);
			}
			else {
				to.wanted(place.key(), place.token());
			}
		});
	}

	/** Sends a message to the instance of a token. */
	void tell(Place place, Consumer<InboxListener> message) {
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
		if (place.until() - System.nanoTime() <= 0 || place.entry() != renewal.entry() || !place.isOwned()) {
			return RenewResult.NOT_OWNER;
		}
		place.lengthen(start + TimeUnit.MILLISECONDS.toNanos(renewal.ttlMillis()));
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
