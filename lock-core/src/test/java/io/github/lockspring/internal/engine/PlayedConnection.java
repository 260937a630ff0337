package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;

/**
 * The store as one played instance sees it: sends requests through the played network or,
 * if the driver blocks, carries them out while the caller waits. For one thread.
 */
final class PlayedConnection implements LockStore, Inbox {

	private final PlayedWorld world;

	private final PlayedInstance instance;

	private final Random random;

	private final StoreTraits traits;

	private final boolean queueing;

	/** Whether the server would send messages. */
	private boolean subscribed;

	/** Whether this side believes that it does. */
	private boolean confirmed;

	private boolean opening;

	private int renewals;

	PlayedConnection(PlayedWorld world, PlayedInstance instance, StoreTraits traits, boolean queueing) {
		this.world = world;
		this.instance = instance;
		this.random = world.random();
		this.traits = traits;
		this.queueing = queueing;
	}

	boolean isSubscribed() {
		return this.subscribed;
	}

	/** How many leases were to be renewed so far. */
	int renewals() {
		return this.renewals;
	}

	// requests

	@Override
	public StoreTraits traits() {
		return this.traits;
	}

	@Override
	public CompletionStage<AcquireResult> acquire(AcquireRequest request, Duration timeout) {
		this.instance.asks(request.token());
		return send("acquire " + request.token() + (request.queue() ? " queues" : ""),
				() -> this.world.store().acquire(request), (result) -> this.world.faults().answered(request));
	}

	@Override
	public CompletionStage<ReleaseResult> release(ReleaseRequest request, Duration timeout) {
		this.instance.releases(request);
		return send("release " + request.token(), () -> this.world.store().release(request), (result) -> {
		});
	}

	@Override
	public CompletionStage<List<RenewResult>> renew(List<RenewRequest> requests, Duration timeout) {
		this.renewals++;
		Held held = this.instance.held();
		long until = this.instance.nanoTime() + timeout.toNanos();
		CompletionStage<List<RenewResult>> stage = renewByHolder(requests);
		// a thread that was late may renew for the hold before
		if (held != null && !this.traits.blocking()) {
			stage.whenComplete((results, failure) -> {
				boolean inTime = this.instance.nanoTime() - until < 0;
				if (inTime && (results == null || results.contains(RenewResult.UNKNOWN))) {
					this.instance.renewalFailed(held);
				}
			});
		}
		return stage;
	}

	/** A renewal that the watchdog knows nothing of. */
	CompletionStage<List<RenewResult>> renewByHolder(List<RenewRequest> requests) {
		return send("renew " + requests, () -> renew(requests), (results) -> {
		});
	}

	private List<RenewResult> renew(List<RenewRequest> requests) {
		List<RenewResult> results = new ArrayList<>();
		for (RenewRequest request : requests) {
			RenewResult result = this.world.store().renew(request);
			results.add((!this.world.isCalm() && this.random.nextInt(10) == 0) ? RenewResult.UNKNOWN : result);
		}
		return results;
	}

	private <T> CompletionStage<T> send(String what, Supplier<T> execution, Consumer<T> arrived) {
		CompletableFuture<T> stage = new CompletableFuture<>();
		if (this.traits.blocking()) {
			block(stage, what, execution, arrived);
			return stage;
		}
		this.world.network().call(stage);
		this.world.trace("%s: sends %s", this.instance, what);
		this.world.network().put(what, () -> {
			T result = execution.get();
			this.world.trace("  %s; %s", result, this.world.store());
			this.world.network().put("result of " + what, () -> complete(stage, result, arrived));
		});
		return stage;
	}

	private <T> void complete(CompletableFuture<T> stage, T result, Consumer<T> arrived) {
		if (!this.instance.isDead() && !stage.isDone()) {
			arrived.accept(result);
			stage.complete(result);
		}
	}

	/** The request, and the result, take their time; either may be lost. */
	private <T> void block(CompletableFuture<T> stage, String what, Supplier<T> execution, Consumer<T> arrived) {
		int fate = this.world.isCalm() ? 99 : this.random.nextInt(100);
		this.world.trace("%s: %s%s", this.instance, what, (fate < 15) ? " has no result" : "");
		this.world.passAWhile();
		if (fate >= 5 && fate < 10) {
			this.world.network().put(what + " arrives late", execution::get);
		}
		else if (fate >= 10) {
			T result = execution.get();
			this.world.trace("  %s; %s", result, this.world.store());
			this.world.passAWhile();
			if (fate >= 15) {
				complete(stage, result, arrived);
				return;
			}
		}
		stage.completeExceptionally(PlayedWorld.noResult(fate == 0));
	}

	// messages

	@Override
	public Optional<Inbox> inbox(String instance, InboxListener listener) {
		return this.queueing ? Optional.of(this) : Optional.empty();
	}

	void publishGranted(OwnerToken token, long fencingToken, boolean othersWait) {
		publish("granted " + token + " " + fencingToken + (othersWait ? ", others wait" : ""),
				() -> this.instance.granted(token, fencingToken, othersWait));
	}

	void publishWanted(OwnerToken token) {
		publish("wanted " + token, () -> this.instance.wanted(token));
	}

	private void publish(String what, Runnable arrive) {
		if (this.subscribed) {
			this.world.network().put(what, () -> {
				if (!this.instance.isDead()) {
					arrive.run();
				}
			});
		}
	}

	@Override
	public void open() {
		if (!this.opening && !this.confirmed) {
			this.opening = true;
			this.world.network().task(this.instance + " subscribes", this::subscribe);
		}
	}

	/** Messages arrive (again), unless that is not to be. */
	void subscribe() {
		if (this.queueing && !this.instance.isDead() && !this.world.isDeaf(this.instance)) {
			this.opening = false;
			this.subscribed = true;
			this.confirmed = true;
			this.instance.opened();
		}
	}

	/** Loses the subscription, and may learn of it later only. */
	void unsubscribe() {
		this.subscribed = false;
		if (this.random.nextBoolean()) {
			this.confirmed = false;
		}
		else {
			this.world.network().task(this.instance + " finds its subscription dead", () -> {
				this.confirmed = this.subscribed;
			});
		}
	}

	@Override
	public boolean isConfirmed() {
		return this.confirmed;
	}

	@Override
	public void close() {
		this.subscribed = false;
		this.confirmed = false;
	}

}
