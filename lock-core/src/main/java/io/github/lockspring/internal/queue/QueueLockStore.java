package io.github.lockspring.internal.queue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.Stages;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * Stores locks as queues of ephemeral entries. The first entry owns the lock; every other
 * entry watches its predecessor. The order of the entries is the order of the owners, so
 * a release need not hand the lock over, and the lock also passes on when a lease ends.
 * Thread-safe.
 * <p>
 * The fencing token is the {@linkplain Entry.Own#order() number} of the entry, times
 * 1,024 to leave room for the tokens of local hand-offs.
 *
 * @since 0.1
 */
public final class QueueLockStore implements LockStore {

	private final EntryServer server;

	private final String name;

	private final LongSupplier clock;

	private final QueueSteps steps;

	private final Map<Place.Id, Place> places = new ConcurrentHashMap<>();

	private final Map<String, QueueInbox> inboxes = new ConcurrentHashMap<>();

	/**
	 * Creates a store. Does not connect.
	 * @param name the name of the server in messages
	 * @param server the server; closed with this store
	 * @param clock the clock by which leases count, in nanoseconds; must count the time
	 * for which the machine is suspended
	 */
	public QueueLockStore(String name, EntryServer server, LongSupplier clock) {
		this.name = name;
		this.server = server;
		this.clock = clock;
		this.steps = new QueueSteps(name, server, this.places, this.inboxes, clock);
		server.onConnectionChange(() -> {
			this.places.values().forEach(Place::connectionChanged);
			this.inboxes.values().forEach(QueueInbox::confirm);
		});
	}

	@Override
	public StoreTraits traits() {
		return this.server.traits();
	}

	@Override
	public Duration lease(Duration ttl) {
		return this.server.lease(ttl);
	}

	@Override
	public CompletionStage<@Nullable Void> connected() {
		return this.server.connected();
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		long deadline = this.clock.getAsLong() + timeout.toNanos();
		Place place = this.places.computeIfAbsent(Place.Id.of(request.key(), request.token()),
				(id) -> new Place(id, request.token()));
		return answer(place.then(() -> this.steps.attempt(place, request, deadline)).thenApply((result) -> {
			if (result instanceof AcquireResult.Acquired) {
				// owners are not notified of waiters, so they have to assume some
				this.steps.deliver(place, (to) -> to.wanted(request.key(), request.token()));
			}
			return result;
		}));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		Place place = this.places.get(Place.Id.of(request.key(), request.token()));
		return answer((place != null) ? place.then(() -> this.steps.ends().release(place, request))
				: this.steps.ends().notOwner(request.key()));
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		long start = this.clock.getAsLong();
		List<EntryServer.@Nullable Renewal> renewals = new ArrayList<>();
		requests.forEach((request) -> renewals.add(renewal(request)));
		List<EntryServer.Renewal> owned = renewals.stream().flatMap(Stream::ofNullable).toList();
		if (owned.isEmpty()) {
			return Stages.done(Collections.nCopies(requests.size(), RenewResult.NOT_OWNER));
		}
		return answer(this.server.renew(owned).thenApply((there) -> {
			List<RenewResult> results = new ArrayList<>();
			for (int i = 0; i < requests.size(); i++) {
				Place place = place(requests.get(i));
				EntryServer.Renewal renewal = renewals.get(i);
				results.add((place != null && renewal != null && there.contains(renewal.entry()))
						? this.steps.renewed(place, requests.get(i).token(), renewal, start) : RenewResult.NOT_OWNER);
			}
			return results;
		}));
	}

	private EntryServer.@Nullable Renewal renewal(RenewRequest request) {
		Place place = place(request);
		Entry.Own entry = (place != null) ? place.entry() : null;
		return (place != null && entry != null && place.isOwnedBy(request.token(), entry))
				? new EntryServer.Renewal(entry, QueueSteps.millis(request.ttl())) : null;
	}

	private @Nullable Place place(RenewRequest request) {
		return this.places.get(Place.Id.of(request.key(), request.token()));
	}

	/** Converts failures into those of a store. */
	private static <T> CompletionStage<T> answer(CompletionStage<T> result) {
		return result.exceptionallyCompose((ex) -> CompletableFuture.failedFuture(Stages.unavailable(ex)));
	}

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		QueueInbox inbox = new QueueInbox(this.server, listener, this.steps.ends().timer(), instance, this.inboxes);
		this.inboxes.put(instance, inbox);
		return Optional.of(inbox);
	}

	@Override
	public Optional<LockStoreInspector> inspector() {
		return Optional.of(new QueueInspector(this.server));
	}

	@Override
	public Optional<StoreHealth> health(Duration timeout) {
		StoreHealth.Server health;
		try {
			Stages.join(this.server.ping(), timeout);
			health = new StoreHealth.Server(this.name, null, null, List.of());
		}
		catch (LockUnavailableException ex) {
			health = StoreHealth.Server.unusable(this.name, String.valueOf(ex.getMessage()));
		}
		return Optional.of(new StoreHealth(List.of(health), 1, true));
	}

	/**
	 * Stops the threads of this store, and closes the connection if the store has opened
	 * it.
	 */
	@Override
	public void close() {
		this.inboxes.values().forEach(QueueInbox::close);
		this.steps.ends().close();
		this.server.close();
	}

}
