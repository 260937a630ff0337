package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Supplier;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.KeyState.Asking;
import io.github.lockspring.internal.engine.KeyState.Releasing;
import io.github.lockspring.internal.engine.KeyState.Unanswered;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.LockRecorder.Origin;
import io.github.lockspring.internal.engine.support.Monitor;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * One key in this instance: its waiters, in order of arrival, and its {@link KeyState
 * state}.
 */
/*
 * For maintainers: each method of the first part is one event. It runs under the monitor,
 * and only it changes anything; time is an argument. There is no thread, no clock and no
 * store here: what an event sends, wakes or reports is an effect, which runs when the
 * monitor has been left; so the answer to a request may be another event inside that
 * effect. `enqueue`, `timeOut`, `tick`, `end` and `isHeld` let the time pass first
 * (`tickState`), and notice a holder that is dead; the others compare times themselves.
 * Each event ends in `settle`: a state is told that its last waiter has left; a key
 * without a state is asked for if somebody waits, and is dropped otherwise. So no event
 * can forget a waiter.
 */
@SuppressWarnings("try")
final class KeyLock implements Watchdog.Watched {

	private final Monitor monitor = new Monitor();

	private final String key;

	private final KeyLockPort port;

	private final RetrySchedule retry;

	private final WaitQueue waiters = new WaitQueue(this);

	/** Null for a moment inside an event, and for good when this lock was dropped. */
	private @Nullable KeyState state;

	private boolean dropped;

	/** Takes the token of the last waiter out of the store; null while there is none. */
	private volatile @Nullable Release leaving;

	private volatile long due = NOT_DUE;

	KeyLock(String key, KeyLockPort port, RetrySchedule retry) {
		this.key = key;
		this.port = port;
		this.retry = retry;
	}

	String key() {
		return this.key;
	}

	// events: waiters

	/**
	 * Adds a waiter to the queue.
	 * @return false if this lock was dropped: get a new one
	 */
	boolean enqueue(Waiter waiter, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.dropped) {
				return false;
			}
			KeyState present = tickState(now);
			if (this.port.isStopped()) {
				this.waiters.tell(waiter, new Unavailable(LockMessages.STOPPED));
			}
			else if (present == null || (this.state == null && this.waiters.isEmpty())) {
				// free, or free since this moment, with nobody ahead
				this.waiters.add(waiter);
			}
			else if (waiter.options().once() || this.port.isClosing()) {
				this.waiters.tell(waiter, this.waiters.whyNot(waiter, present, now));
			}
			else {
				this.waiters.add(waiter);
				this.waiters.waits(waiter);
			}
			// a thread ends its wait itself, so the driver may block it; a future must
			// not block its caller
			settle(waiter.endsItself(), now);
			return true;
		}
	}

	/**
	 * A waiter goes away.
	 * @param failure its outcome, unless that is known
	 */
	void leave(Waiter waiter, AcquireFailure failure, long now) {
		try (Monitor entered = this.monitor.enter()) {
			this.waiters.leave(waiter, failure);
			settle(false, now);
		}
	}

	/**
	 * The time of a waiter is over. A wait for the first answer of the store ends with
	 * that answer, if it comes soon: it is not known yet whether the lock is busy.
	 * @return when the waiter has to call again, unless it has its outcome before
	 */
	long timeOut(Waiter waiter, long now) {
		try (Monitor entered = this.monitor.enter()) {
			long until = this.waiters.timeOut(waiter, tickState(now), now);
			settle(false, now);
			return until;
		}
	}

	/**
	 * Ends all waits except that of the waiter whose attempt is under way.
	 */
	void closing(long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state != null) {
				this.waiters.close(this.state, now);
			}
			settle(false, now);
		}
	}

	/**
	 * The engine has stopped: nothing is held here any more.
	 * @return whether something was
	 */
	boolean stop(long now) {
		try (Monitor entered = this.monitor.enter()) {
			this.waiters.tellAll(new Unavailable(LockMessages.STOPPED));
			boolean held = this.state instanceof Held;
			if (this.state != null) {
				this.state.stopped(now);
			}
			settle(false, now);
			return held;
		}
	}

	// events: answers

	/**
	 * An attempt has a result.
	 */
	void answered(Asking attempt, AcquireResult result, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state == attempt) {
				attempt.answered(result, now);
			}
			else {
				late(attempt, result, now);
			}
			settle(false, now);
		}
	}

	/**
	 * Releases the token that an attempt with a late answer may have left in the store.
	 */
	private void late(Asking attempt, AcquireResult result, long now) {
		boolean left = result instanceof AcquireResult.Acquired || attempt.request().queue();
		if (left && !isOf(attempt.claim.token())) {
			release(attempt.claim, 0, now);
		}
	}

	/**
	 * An attempt failed: it may have been carried out, or may yet be.
	 */
	void failed(Asking attempt, LockUnavailableException error, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state == attempt) {
				attempt.failed(error, now);
			}
			settle(false, now);
		}
	}

	/**
	 * The first try of a release has a result, or is over.
	 */
	void released(OwnerToken token, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state != null) {
				this.state.released(token);
			}
			settle(false, now);
		}
	}

	/**
	 * The holder is about to send a renewal itself.
	 * @param length of the lease that it requests
	 */
	void renewing(Held hold, long length, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state == hold) {
				hold.claim.requested(length);
			}
			settle(false, now);
		}
	}

	/**
	 * A renewal has a result. It counts for the present holder.
	 * @param length of the lease that was requested
	 */
	void renewed(OwnerToken token, RenewResult result, long sent, long length, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state instanceof Held held && isOf(token)) {
				held.renewed(result, sent, length, now);
			}
			settle(false, now);
		}
	}

	/**
	 * The holder has lengthened the lease itself.
	 * @param limit the end of the lease that was asked for, until which the hold may last
	 * whatever its limit was; if the store gave a shorter one, it is renewed
	 */
	void extended(Held hold, long limit, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state == hold) {
				hold.extend(limit);
			}
			settle(false, now);
		}
	}

	// events: messages

	/**
	 * A message reports that the lock was given to a token.
	 * @return whether the token is that of the state; one that is being released is not
	 */
	boolean granted(OwnerToken token, long fencingToken, boolean othersWait, long now) {
		return message(token, othersWait, (present) -> present.granted(fencingToken, now), now);
	}

	/**
	 * A message reports that another instance waits for the lock of a token.
	 * @return whether the token is that of the state; one that is being released is not
	 */
	boolean wanted(OwnerToken token, long now) {
		return message(token, true, (present) -> present.prompted(now), now);
	}

	private boolean message(OwnerToken token, boolean othersWait, Consumer<KeyState> then, long now) {
		try (Monitor entered = this.monitor.enter()) {
			boolean known = isOf(token);
			if (this.state != null && known) {
				if (othersWait) {
					this.state.claim.contention().notice(now);
				}
				then.accept(this.state);
			}
			settle(false, now);
			return known;
		}
	}

	/**
	 * The store may have lost what it had: a renewal shows whether it has.
	 * @param by when to renew at the latest
	 */
	void reconnected(long by, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state instanceof Held held) {
				held.lease.renewBy(by);
			}
			settle(false, now);
		}
	}

	/**
	 * Messages arrive from now on; earlier ones may have been lost.
	 * @param by when to ask again at the latest
	 */
	void subscribed(long by, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state != null) {
				this.state.subscribed(by);
			}
			settle(false, now);
		}
	}

	// events: time

	@Override
	public long due() {
		return this.due;
	}

	@Override
	public long tick(long now, List<Renewal> batch) {
		try (Monitor entered = this.monitor.enter()) {
			this.waiters.timeOutAll(tickState(now), now);
			long window = 0;
			if (this.state instanceof Held held) {
				RenewRequest request = held.renewal(now);
				if (request != null) {
					batch.add(new Renewal(this, request));
					window = held.lease.window();
				}
			}
			settle(false, now);
			return window;
		}
	}

	/**
	 * Lets the time pass for the state.
	 * @return what it is then, or was until now
	 */
	private @Nullable KeyState tickState(long now) {
		KeyState before = this.state;
		if (before != null) {
			before.tick(now);
		}
		return (this.state != null) ? this.state : before;
	}

	// events: the holder

	/**
	 * The end of a hold.
	 *
	 * @param before what it was until then: ACTIVE if it has ended in time
	 * @param release what ends the ownership in the store; null if nothing does
	 */
	record Ending(Held.State before, @Nullable Release release) {
	}

	/**
	 * Ends a hold: hands the lock off to the next waiter if it may, otherwise releases it
	 * in the store.
	 * @param mayBlock whether the driver may block the present thread
	 */
	Ending end(Held hold, boolean mayBlock, long now) {
		try (Monitor entered = this.monitor.enter()) {
			tickState(now);
			Held.State before = hold.state();
			Release release = null;
			if (this.state == hold) {
				release = hold.end(mayBlock, now);
			}
			else {
				hold.close();
			}
			settle(false, now);
			return new Ending(before, release);
		}
	}

	/**
	 * Decides about a lease that seems to be over: it is lengthened in this moment, or is
	 * lost from now on. Once a caller has seen it end, it is never held again.
	 */
	boolean isHeld(Held hold, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.state == hold) {
				tickState(now);
			}
			settle(false, now);
			return hold.isActive();
		}
	}

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin(Held hold, long now) {
		try (Monitor entered = this.monitor.enter()) {
			hold.begin(now);
			settle(false, now);
		}
	}

	/**
	 * As {@link Held#arm()}.
	 */
	LossInterrupt arm(Held hold) {
		return inside(hold::arm);
	}

	/**
	 * Takes away what is held: the work goes on without the lock.
	 * @return what ends the ownership in the store; null if nothing is held
	 */
	@Nullable Release force(long now) {
		try (Monitor entered = this.monitor.enter()) {
			Release release = (this.state instanceof Held held) ? held.lose(Cause.FORCED, now) : null;
			settle(false, now);
			return release;
		}
	}

	// what states do

	/**
	 * Ends an event.
	 * @param mayBlock whether the driver may block the present thread
	 */
	private void settle(boolean mayBlock, long now) {
		if (this.waiters.isEmpty() && this.state != null) {
			this.state.lastWaiterLeft(now);
		}
		Waiter first = this.waiters.first();
		if (this.state == null && first != null) {
			Claim claim = this.port.newClaim(first.parameters().grantMillis(), now);
			ask(claim, mayBlock, null, now);
		}
		else if (this.state == null && !this.dropped) {
			this.dropped = true;
			this.port.drop(this);
		}
		long next = (this.state != null) ? earlier(this.state.due(), this.waiters.due()) : NOT_DUE;
		// a hand-off changes nothing here, and a volatile write would cost it time
		if (this.due != next) {
			this.due = next;
			if (next != NOT_DUE) {
				this.port.due(next);
			}
		}
	}

	/** Returns the earlier of two times, each of which may be {@link #NOT_DUE}. */
	static long earlier(long a, long b) {
		if (a == NOT_DUE) {
			return b;
		}
		return (b == NOT_DUE) ? a : Time.earlier(a, b);
	}

	void become(@Nullable KeyState next) {
		this.state = next;
	}

	/**
	 * Makes an attempt for the first waiter, and for all others too.
	 * @param before the last attempts, if they have no answer; otherwise null
	 */
	void ask(Claim claim, @Nullable Unanswered before, long now) {
		ask(claim, false, before, now);
	}

	private void ask(Claim present, boolean mayBlock, @Nullable Unanswered before, long now) {
		Claim claim = reachable(present, now);
		Waiter first = Objects.requireNonNull(this.waiters.first(), "first");
		Duration ttl = first.parameters().ttl();
		claim.requested(ttl.toNanos());
		boolean queue = !first.options().once() && !this.port.isClosing() && mayQueue(claim);
		Asking attempt = new Asking(this, claim, new AcquireRequest(this.key, claim.token(), ttl, queue), now, before);
		this.state = attempt;
		this.monitor.afterwards(() -> this.port.send(attempt, mayBlock));
	}

	/**
	 * Replaces a claim whose token needs a message where none arrives: the turn of the
	 * next one is found by asking.
	 */
	private Claim reachable(Claim claim, long now) {
		if (!this.port.hasQueue() || !claim.hasBeenUnreachedForTooLong(this.port.isInformed(), now)) {
			return claim;
		}
		release(claim, 0, now);
		Claim next = this.port.newClaim(OwnerToken.SHORT_GRANT_MILLIS, now);
		next.followed(claim);
		return next;
	}

	/** Whether a token can be in the store's queue. */
	boolean mayQueue(Claim claim) {
		return this.port.hasQueue() && (this.port.isInformed() || !claim.token().needsMessage());
	}

	/** This instance owns the lock: the first waiter gets it. */
	void own(Claim claim, long fencingToken, long sent, long length, long now) {
		claim.contention().owned(now);
		give(claim, new Lease(sent, length), fencingToken, 0, now);
	}

	/**
	 * The first waiter gets the lock.
	 * @param handoffs how often this instance has handed it off since it owns it
	 */
	void give(Claim claim, Lease lease, long fencingToken, int handoffs, long now) {
		Waiter first = Objects.requireNonNull(this.waiters.first(), "first");
		Held hold = new Held(this, claim, first, lease, fencingToken, handoffs, now);
		this.state = hold;
		record((to) -> to.held(hold.parameters().name(), origin(claim, handoffs)));
		this.waiters.give(hold);
	}

	/** From where a hold that begins has the lock; null if it was free. */
	private static @Nullable Origin origin(Claim claim, int handoffs) {
		if (handoffs > 0) {
			return Origin.LOCAL;
		}
		return claim.hasFoundBusy() ? Origin.REMOTE : null;
	}

	/**
	 * Releases a token, in the background. It stays known until that is answered or given
	 * up.
	 */
	Release release(Claim claim, long lastFencingToken, long now) {
		return release(claim, new ReleaseRequest(this.key, claim.token(), lastFencingToken, Duration.ZERO), false, now);
	}

	/** Releases the token of the last waiter, which has left. */
	void releaseOfLast(Claim claim, long now) {
		this.leaving = release(claim, 0, now);
	}

	/** Registers a release before the claim is dropped, and sends it afterwards. */
	Release release(Claim claim, ReleaseRequest request, boolean mayBlock, long now) {
		Releases releases = this.port.releases();
		// ordered: what comes next does not wait for it
		KeyLock waiting = this.port.isOrdered() ? null : this;
		Release release = releases.register(request, waiting, now + claim.longest());
		this.monitor.afterwards(() -> releases.send(release, mayBlock));
		return release;
	}

	void lost(Held hold, Cause cause, long now) {
		recordEnd(hold, now);
		this.monitor.afterwards(() -> this.port.lost(hold, cause, now));
	}

	/** A hold that {@link #give} has recorded ends, once: at its end, or at its loss. */
	void recordEnd(Held hold, long now) {
		record((to) -> to.ended(hold.parameters().name(), hold.nanosHeld(now)));
	}

	/** Records something, after the event. */
	void record(Consumer<LockRecorder> fact) {
		LockEvents events = this.port.events();
		if (events.isRecorded()) {
			this.monitor.afterwards(() -> events.record(fact));
		}
	}

	/** An effect of the event. */
	void afterwards(Runnable effect) {
		this.monitor.afterwards(effect);
	}

	// questions

	WaitQueue waiters() {
		return this.waiters;
	}

	KeyLockPort port() {
		return this.port;
	}

	RetrySchedule retry() {
		return this.retry;
	}

	/** The release that the last waiter awaits before it reports the lock as busy. */
	@Nullable Release leaving() {
		return this.leaving;
	}

	/** Whether the store is to have the token: not if it is being released. */
	private boolean isOf(OwnerToken token) {
		return this.state != null && !(this.state instanceof Releasing) && this.state.claim.token().equals(token);
	}

	/**
	 * Reads the state and the number of waiters.
	 */
	<T extends @Nullable Object> T read(Reader<T> reader) {
		return inside(() -> reader.read(this.state, this.waiters.size()));
	}

	/**
	 * Reads a state.
	 */
	interface Reader<T extends @Nullable Object> {

		T read(@Nullable KeyState state, int waiting);

	}

	private <T extends @Nullable Object> T inside(Supplier<T> action) {
		try (Monitor entered = this.monitor.enter()) {
			return action.get();
		}
	}

	@Override
	public String toString() {
		return "lock '" + this.key + "'";
	}

}
