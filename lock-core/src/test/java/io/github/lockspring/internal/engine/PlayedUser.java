package io.github.lockspring.internal.engine;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;

import io.github.lockspring.HeldLock;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * One that waits for the lock, holds it and ends it, a step at a time: a thread, whose
 * parking is played, or a real {@link FutureWaiter}. For one thread.
 */
final class PlayedUser {

	private final PlayedInstance instance;

	private final Waiter waiter;

	private final int number;

	/** Null for a thread. */
	private @Nullable CompletableFuture<HeldLock> future;

	private @Nullable KeyLock lock;

	/** When a thread gives up. */
	private long until;

	/** Whether a thread is to see its outcome. */
	private boolean woken;

	/** Whether a thread has seen its outcome. */
	private boolean returned;

	private @Nullable Held hold;

	private long heldAt;

	/** Whether it was the one that lengthened the lease. */
	private boolean extended;

	/** Whether it has seen that it does not hold the lock any more. */
	private boolean over;

	private boolean ended;

	PlayedUser(PlayedInstance instance, LockParameters parameters, Waiter.WaitOptions options, boolean asFuture,
			int number) {
		this.instance = instance;
		this.number = number;
		this.until = options.until();
		this.waiter = asFuture ? new FutureWaiter(instance.registry(), parameters, options, instance::runForUser)
				: new Parked(parameters, options);
	}

	void start() {
		if (this.waiter instanceof FutureWaiter future) {
			this.future = future.start();
		}
		else {
			this.lock = this.instance.registry().enqueue(this.waiter);
		}
	}

	// questions

	int number() {
		return this.number;
	}

	Waiter.WaitOptions options() {
		return this.waiter.options();
	}

	long until() {
		return this.until;
	}

	boolean endsItself() {
		return this.waiter.endsItself();
	}

	boolean isUndecided() {
		return this.waiter.outcome() == null;
	}

	/** A hold that has begun unnoticed; null if there is none. */
	@Nullable Held newHold() {
		return (this.hold == null && this.waiter.outcome() instanceof Held begun) ? begun : null;
	}

	/** Whether nothing of it is left to be played. */
	boolean isDone() {
		if (this.waiter.outcome() instanceof Held told) {
			return this.ended || (isCancelled() && told.state() != Held.State.ACTIVE);
		}
		return this.returned || (this.future != null && this.future.isDone() && !isUndecided());
	}

	private boolean isCancelled() {
		return this.future != null && this.future.isCompletedExceptionally();
	}

	/** Whether a thread has something to do. */
	boolean isRunnable() {
		return this.future == null && !this.returned && (this.woken || (isUndecided() && this.until - now() <= 0));
	}

	/** Whether it knows that it has, or had, the lock, and has not ended it. */
	boolean isHolding() {
		return this.hold != null && !this.ended
				&& ((this.future != null) ? this.future.isDone() && !isCancelled() : this.returned);
	}

	/** Whether it holds the lock by its own clock. */
	boolean isHolder() {
		return this.hold != null && this.hold.isActive() && !this.hold.isOver(now());
	}

	OwnerToken token() {
		return held().token();
	}

	/** How long the lease lasts by its own clock, in the world's time. */
	long nanosLeft() {
		return (long) ((held().deadline() - now()) / this.instance.speed());
	}

	private Held held() {
		if (this.hold == null) {
			throw new IllegalStateException("holds nothing");
		}
		return this.hold;
	}

	private long now() {
		return this.instance.nanoTime();
	}

	private PlayedPromises promises() {
		return this.instance.world().promises();
	}

	private KeyLock lock() {
		return (this.lock != null) ? this.lock : held().lock;
	}

	// what it does

	/** A thread runs again. */
	void step() {
		if (isUndecided()) {
			this.until = lock().timeOut(this.waiter, now());
			promises().waitEndsInTime(this, this.instance.state(), now());
		}
		this.returned = !isUndecided();
	}

	void begins(Held hold) {
		this.hold = hold;
		this.heldAt = now();
		this.instance.holds(hold);
		if (hold.state() != Held.State.CLOSED) {
			promises().holdBeginsInItsLease(this);
		}
		promises().firstWaiterIsServed(this, this.instance.users());
	}

	/** Goes away; the user of a future may also have stopped to wait for it. */
	void cancel(boolean timedOut) {
		if (this.future == null) {
			lock().leave(this.waiter, new AcquireFailure.Interrupted(), now());
		}
		else if (timedOut) {
			this.future.completeExceptionally(new TimeoutException());
		}
		else {
			this.future.cancel(true);
		}
	}

	/** Asks whether it holds the lock: once it does not, it never does again. */
	void look() {
		Held present = held();
		observe(present.isActive() && (!present.isOver(now()) || lock().isHeld(present, now())));
	}

	/** Sees whether it holds the lock, without asking. */
	void observe() {
		observe(isHolder());
	}

	private void observe(boolean holds) {
		promises().deadlineThatHasPassedIsFinal(holds, this.over);
		this.over |= !holds;
	}

	/** Verifies or extends the lease, as {@link DefaultHeldLock} does. */
	void renew(boolean extend) {
		Held present = held();
		LockParameters parameters = this.waiter.parameters();
		long sent = now();
		lock().renewing(present, parameters.ttlNanos(), sent);
		this.instance.connection()
			.renewByHolder(List.of(new RenewRequest(PlayedInstance.KEY, present.token(), parameters.ttl())))
			.whenComplete((results, failure) -> {
				if (results != null && results.get(0) != RenewResult.UNKNOWN) {
					lock().renewed(present.token(), results.get(0), sent, parameters.ttlNanos(), now());
					if (extend && results.get(0) == RenewResult.RENEWED) {
						lock().extended(present, RenewalPolicy.deadline(sent, parameters.ttlNanos()), now());
					}
					promises().refusedRenewalIsALoss(results.get(0) == RenewResult.NOT_OWNER && isHolder());
					this.extended |= extend && isHolder();
				}
			});
	}

	void end() {
		look();
		Held ending = held();
		Held before = this.instance.held();
		long now = now();
		this.ended = true;
		if (this.future != null) {
			((DefaultHeldLock) this.future.join()).end(true);
		}
		else {
			Held.State was = lock().end(ending, true, now).before();
			promises().check((was == Held.State.LOST) == this.over, this + " ends, " + was);
		}
		if (!this.over && before != null) {
			checkEnd(ending, before.lease, now);
		}
	}

	private void checkEnd(Held ending, Lease lease, long now) {
		long minHold = this.heldAt + this.waiter.parameters().minHold() - now;
		Held after = this.instance.held();
		if (after == null || after.lease != lease) {
			ReleaseRequest request = this.instance.releaseOf(ending.token());
			promises().minHoldIsKept(minHold, request);
			return;
		}
		promises().handOffWaitsForMinHold(minHold);
		promises().handOffLeavesAThirdOfTheLease(ending.deadline() - now, lease.window() * 6);
		promises().extendedLeaseIsNotHandedOff(this.extended);
		promises().handOffsEndWhenOthersWait(this.instance.contendedFor(ending.token(), now));
	}

	@Override
	public String toString() {
		return this.instance + "" + this.number + ((this.future != null) ? "f" : "");
	}

	/**
	 * A thread that waits.
	 */
	private final class Parked extends Waiter {

		Parked(LockParameters parameters, WaitOptions options) {
			super(parameters, options);
		}

		@Override
		void wake() {
			PlayedUser.this.woken = true;
		}

		@Override
		boolean endsItself() {
			return true;
		}

		@Override
		@Nullable Thread thread() {
			return null;
		}

	}

}
