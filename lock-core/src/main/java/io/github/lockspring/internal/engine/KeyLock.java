package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Supplier;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.Ownership.Grant;
import io.github.lockspring.internal.engine.Ownership.State;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.WaiterAction.Park;
import io.github.lockspring.internal.engine.support.Monitor;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * One key in this instance: the waiters, in order of arrival, and the ownership by which
 * the instance owns the key or tries to. This is the state machine of the protocol; the
 * table of its states and events is in the documentation of this package.
 * <p>
 * For maintainers: every method is one transition under the monitor. There is no thread,
 * no clock and no store here: time is an argument, what has to be sent to the store is
 * returned to the waiter that calls (or given to the {@link KeyLockPort}), and its result
 * reported back. A time that was read before the monitor was entered may be late, never
 * early, which is safe, since a deadline counts from before a request was sent. What runs
 * other code (waking a waiter, releasing in the background, reporting a loss) happens
 * after the monitor has been left.
 * <p>
 * The first waiter, and no other, makes acquire attempts for all of them. When it goes
 * away, the next one takes over the same ownership, with its token and its place in the
 * store's queue. An ownership that is LOST, or that has left the store's queue, is
 * dropped at once; one that is RELEASING stays until its release has a result, so the
 * next waiter does not try in vain.
 * <p>
 * A lease counts from before the request that got it was sent, and one that arrived as a
 * message from before the last attempt that <em>found the lock busy</em>: that is the
 * only time of which it is certain that the grant is younger. So a message that arrives
 * during an attempt waits for the result. Messages are hints: where one is not certainly
 * right, the store is asked.
 */
@SuppressWarnings("try")
final class KeyLock implements Watchdog.Watched {

	/** A lease that is over may have been noticed by nobody else yet. */
	private static final long EXPIRY_MARGIN = 1_000_000;

	private final Monitor monitor = new Monitor();

	private final String key;

	private final KeyLockPort port;

	private final LocalHandoff handoff;

	private final RetrySchedule retry;

	private final ArrayDeque<Waiter> waiters = new ArrayDeque<>(1);

	private @Nullable Ownership ownership;

	private boolean retired;

	private volatile long due = NOT_DUE;

	KeyLock(String key, KeyLockPort port, LocalHandoff handoff, RetrySchedule retry) {
		this.key = key;
		this.port = port;
		this.handoff = handoff;
		this.retry = retry;
	}

	String key() {
		return this.key;
	}

	// waiters

	/**
	 * Adds a waiter to the queue.
	 * @return what it has to do first, or null if this lock was dropped: get a new one
	 */
	@Nullable WaiterAction enqueue(Waiter waiter, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership present = present(now);
			if (this.retired) {
				return null;
			}
			boolean occupied = present != null || !this.waiters.isEmpty();
			if (occupied && (waiter.options().once() || this.port.isClosing())) {
				waiter.tell(busy(waiter, present, now));
				return WaiterAction.DONE;
			}
			this.waiters.addLast(waiter);
			if (occupied) {
				this.monitor.afterwards(this.port::openInbox);
			}
			return decide(waiter, present, now);
		}
	}

	/**
	 * Says what a waiter has to do next.
	 */
	WaiterAction next(Waiter waiter, long now) {
		if (waiter.outcome() != null) {
			return WaiterAction.DONE;
		}
		try (Monitor entered = this.monitor.enter()) {
			return (waiter.outcome() != null) ? WaiterAction.DONE : decide(waiter, present(now), now);
		}
	}

	private WaiterAction decide(Waiter waiter, @Nullable Ownership present, long now) {
		if (this.port.isStopped()) {
			return giveUp(waiter, new Unavailable("The application has stopped"));
		}
		boolean first = this.waiters.peekFirst() == waiter;
		if (first && (present == null || (present.isWaiting() && waiter.options().once()))) {
			return attempt(waiter, present, now);
		}
		if (this.port.isClosing() || now - waiter.options().until() >= 0
				|| (present != null && present.isHopeless(waiter.options(), now))) {
			LockUnavailableException error = (present != null) ? present.unavailable(this.retry, now) : null;
			return giveUp(waiter, (error != null) ? new Unavailable(error) : busy(waiter, present, now));
		}
		long until = (present != null) ? present.giveUpAt(waiter.options()) : waiter.options().until();
		if (first && present != null && present.isWaiting()) {
			if (now - present.nextAttempt() >= 0) {
				return attempt(waiter, present, now);
			}
			until = Time.earlier(until, present.nextAttempt());
		}
		if (present != null && present.owns()) {
			until = Time.earlier(until, present.expiry() + EXPIRY_MARGIN);
		}
		return new Park(until - now);
	}

	private AcquireAttempt attempt(Waiter waiter, @Nullable Ownership present, long now) {
		Ownership asking = present;
		if (asking == null) {
			asking = this.port.newOwnership(this, waiter.parameters().grantMillis());
			this.ownership = asking;
		}
		boolean queue = !waiter.options().once() && !this.port.isClosing() && this.port.hasQueue();
		return asking.startAttempt(waiter.parameters().ttl(), queue, this.port.isInformed(), now);
	}

	private Busy busy(Waiter waiter, @Nullable Ownership present, long now) {
		String holder = (present != null) ? present.describe(waiter.thread(), now) : LockMessages.AHEAD_IN_QUEUE;
		return new Busy(this.port.isClosing() ? LockMessages.CLOSING : holder, present != null && !present.owns());
	}

	private WaiterAction giveUp(Waiter waiter, AcquireFailure failure) {
		waiter.tell(failure);
		leave(waiter);
		return WaiterAction.DONE;
	}

	/**
	 * A waiter goes away, unless its outcome is known.
	 * @param failure its outcome
	 */
	void cancel(Waiter waiter, AcquireFailure failure, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (waiter.outcome() != null) {
				return;
			}
			if (this.ownership != null && this.waiters.peekFirst() == waiter) {
				this.ownership.abandon(now);
			}
			giveUp(waiter, failure);
		}
	}

	/**
	 * Removes a waiter. The next one takes over the ownership; without one it leaves the
	 * store's queue.
	 */
	private void leave(Waiter waiter) {
		this.waiters.remove(waiter);
		Ownership present = this.ownership;
		if (this.waiters.isEmpty() && present != null && present.isWaiting()) {
			this.ownership = null;
			releaseInBackground(present);
		}
		settle();
	}

	/** Wakes the first waiter; without waiters and an ownership this lock is dropped. */
	private void settle() {
		Waiter first = this.waiters.peekFirst();
		if (first != null) {
			this.monitor.afterwards(first);
		}
		else if (this.ownership == null && !this.retired) {
			this.retired = true;
			this.port.retire(this);
		}
	}

	/**
	 * Lets all waiters look again what they have to do.
	 */
	void wakeAll() {
		try (Monitor entered = this.monitor.enter()) {
			this.waiters.forEach(this.monitor::afterwards);
		}
	}

	// results of acquire attempts

	/**
	 * An attempt has a result.
	 */
	void answered(Waiter waiter, AcquireAttempt attempt, AcquireResult result, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership asking = this.ownership;
			if (asking == null || !asking.endAttempt(attempt)) {
				return;
			}
			boolean missed = asking.hasMissedMessage(attempt, result);
			if (missed) {
				this.monitor.afterwards(this.port::probeInbox);
			}
			if (result instanceof AcquireResult.Busy busy) {
				busy(waiter, asking, attempt.sent(), busy, missed, now);
			}
			else {
				acquired(waiter, asking, attempt, (AcquireResult.Acquired) result, now);
			}
		}
	}

	private void acquired(Waiter waiter, Ownership asking, AcquireAttempt attempt, AcquireResult.Acquired result,
			long now) {
		Grant pending = asking.takePendingGrant();
		asking.othersWait(pending != null && pending.othersWait(), now);
		if (this.port.isStopped()) {
			// what is held has been released; the waiter goes away and releases this
			return;
		}
		long ttl = result.lease(attempt.request()).toNanos();
		if (now - RenewalPolicy.deadline(attempt.sent(), ttl) < 0) {
			grant(asking, result.fencingToken(), attempt.sent(), ttl, now);
			return;
		}
		asking.late(now);
		if (waiter.options().once()) {
			giveUp(waiter, new Unavailable("The store's answer came after the lease that it gave was over"));
		}
	}

	private void busy(Waiter waiter, Ownership asking, long sent, AcquireResult.Busy busy, boolean missed, long now) {
		asking.busy(busy, sent, this.retry, !missed && this.port.isInformed(), now);
		if (!waiter.options().once()) {
			this.monitor.afterwards(this.port::openInbox);
			considerMessages(asking, now);
			return;
		}
		Busy failure = busy(waiter, asking, now);
		if (!asking.mayBeInStore()) {
			// never queued, and certainly not the owner: there is nothing to release
			drop(asking.token());
		}
		giveUp(waiter, failure);
	}

	/**
	 * An attempt failed: it may have been carried out, or may yet be.
	 * @param interrupted whether the waiter was interrupted, which is not the store's
	 * failure
	 */
	void failed(Waiter waiter, AcquireAttempt attempt, LockUnavailableException error, boolean interrupted, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership asking = this.ownership;
			if (asking == null || !asking.endAttempt(attempt)) {
				return;
			}
			if (interrupted) {
				asking.interrupted(now);
			}
			else {
				asking.failed(error, attempt.sent(), this.retry, now);
				this.monitor.afterwards(this.port::probeInbox);
				this.waiters.forEach(this.monitor::afterwards);
			}
			if (waiter.options().once() && !interrupted) {
				giveUp(waiter, new Unavailable(error));
			}
			// those behind it need what came during its attempt
			if (this.ownership == asking) {
				considerMessages(asking, now);
			}
		}
	}

	// messages

	/**
	 * A message says that the lock was given to this ownership.
	 */
	void granted(Ownership granted, Grant grant, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (granted.state() == State.ATTEMPTING) {
				granted.keepForResult(grant);
			}
			else if (granted.isWaiting()) {
				consider(granted, grant, now);
			}
		}
	}

	private void considerMessages(Ownership waiting, long now) {
		Grant grant = waiting.takePendingGrant();
		if (grant != null) {
			consider(waiting, grant, now);
		}
		else if (waiting.isAttemptWanted()) {
			attemptBy(waiting, now);
		}
	}

	private void consider(Ownership waiting, Grant grant, long now) {
		waiting.othersWait(grant.othersWait(), now);
		if (!waiting.mayUse(grant, now)) {
			attemptBy(waiting, now);
		}
		else if (!this.port.isStopped()) {
			grant(waiting, grant.fencingToken(), waiting.busySent(), waiting.grantNanos(), now);
		}
	}

	/**
	 * A message says that another instance waits for the lock.
	 */
	void wanted(Ownership wanted, long now) {
		try (Monitor entered = this.monitor.enter()) {
			wanted.othersWait(true, now);
			// if it waits, this instance owns the lock without knowing it
			attemptBy(wanted, now);
		}
	}

	/**
	 * Messages may have been missed: the next attempt is made at the given time at the
	 * latest.
	 */
	void attemptBy(long at) {
		try (Monitor entered = this.monitor.enter()) {
			if (this.ownership != null) {
				attemptBy(this.ownership, at);
			}
		}
	}

	private void attemptBy(Ownership waiting, long at) {
		if (waiting.attemptBy(at)) {
			settle();
		}
	}

	// holds

	private void grant(Ownership granted, long fencingToken, long sent, long length, long now) {
		granted.acquired(fencingToken, sent, length, now);
		hold(granted, now);
	}

	/** Gives the lock to the first waiter. */
	private void hold(Ownership held, long now) {
		Waiter waiter = this.waiters.removeFirst();
		Hold hold = held.holdFor(waiter, now);
		watch(hold);
		waiter.tell(hold);
		this.monitor.afterwards(waiter);
	}

	/**
	 * Starts the limits of a hold that waited for the other keys of its request.
	 */
	void begin(Hold hold, long now) {
		try (Monitor entered = this.monitor.enter()) {
			hold.begin(now);
			Ownership held = this.ownership;
			if (held != null && held.state() == State.HELD && held.hold() == hold) {
				watch(hold);
			}
		}
	}

	/**
	 * As {@link Hold#arm()}.
	 */
	Hold.LossInterrupt arm(Hold hold) {
		return inside(hold::arm);
	}

	/**
	 * Decides about a lease that seems to be over: it is lengthened in this moment, or is
	 * lost from now on. Once a caller has seen it end, it is never held again.
	 */
	boolean isHeld(Hold hold, long now) {
		return inside(() -> isStillHeld(hold, now));
	}

	private boolean isStillHeld(Hold hold, long now) {
		Ownership held = this.ownership;
		if (hold.isActive() && hold.isOver(now) && held != null && held.hold() == hold) {
			lose(held, Cause.EXPIRED, now);
		}
		return hold.isActive();
	}

	/**
	 * Ends a hold: hands the lock off to the next waiter if it may, otherwise says what
	 * to send to the store.
	 */
	Hold.End end(Hold hold, long now) {
		try (Monitor entered = this.monitor.enter()) {
			if (hold.state() == Hold.State.CLOSED) {
				return Hold.End.REPEATED;
			}
			boolean held = isStillHeld(hold, now);
			hold.close();
			Ownership owned = this.ownership;
			return (held && owned != null) ? end(owned, hold, now) : Hold.End.LOST;
		}
	}

	private Hold.End end(Ownership owned, Hold hold, long now) {
		long keep = hold.keepFor(now);
		Waiter next = this.waiters.peekFirst();
		if (next != null && keep <= 0 && mayHandOff(owned, hold, next, now)) {
			owned.handOff();
			hold(owned, now);
			return Hold.End.HANDED_OFF;
		}
		ReleaseRequest request = owned
			.releaseRequest((keep > 0) ? Duration.ofNanos(keep).plusMillis(1) : Duration.ZERO);
		owned.release();
		this.due = NOT_DUE;
		return new Hold.End(Hold.End.Outcome.ENDED, request);
	}

	private boolean mayHandOff(Ownership owned, Hold hold, Waiter next, long now) {
		return !this.port.isClosing() && owned.lease().mayBeHandedOff(now) && this.handoff.isAllowed(hold.parameters(),
				next.parameters(), owned.handoffs(), owned.contendedFor(this.port.isInformed(), now));
	}

	// leases

	@Override
	public long due() {
		return this.due;
	}

	private void watch(Hold hold) {
		long next = hold.nextEvent();
		long at = (next != NOT_DUE) ? next : next + 1;
		// a hand-off changes nothing here, and a volatile write would cost it time
		if (this.due != at) {
			this.due = at;
			this.port.due(at);
		}
	}

	@Override
	public long tick(long now, List<StoreDispatcher.Renewal> batch) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership held = this.ownership;
			if (held == null || !held.owns()) {
				return 0;
			}
			Hold hold = held.presentHold();
			if (hold.isOver(now) || hold.isAbandoned()) {
				lose(held, hold.isOver(now) ? Cause.EXPIRED : Cause.THREAD_ENDED, now);
				return 0;
			}
			boolean renew = hold.startRenewalIfDue(now);
			watch(hold);
			if (!renew) {
				return 0;
			}
			batch.add(held);
			return held.lease().window();
		}
	}

	/**
	 * Makes the request for a lease that is to be renewed; null if it need not be any
	 * more.
	 */
	@Nullable RenewRequest renewRequest(Ownership held, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Hold hold = held.hold();
			if (held.state() != State.HELD || hold == null || hold.isOver(now) || !hold.needsRenewal()) {
				return null;
			}
			return new RenewRequest(this.key, held.token(), this.port.lease(hold.ttlToRequest(now)));
		}
	}

	/**
	 * A renewal in the background has a result.
	 */
	void renewed(Ownership held, RenewResult result, long sent, long ttl, long now) {
		try (Monitor entered = this.monitor.enter()) {
			apply(held, result, sent, ttl, now);
		}
	}

	/**
	 * A renewal by the holder has a result.
	 * @param lease the lease that was requested
	 * @param extension how long the hold may last, whatever its limit was; 0: as before
	 */
	void renewedByHolder(Hold hold, RenewResult result, long sent, long lease, long extension, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership held = this.ownership;
			if (held == null || held.hold() != hold) {
				return;
			}
			if (extension > 0 && result == RenewResult.RENEWED && isStillHeld(hold, now)) {
				// not a moment later than the lease, which would then need a renewal
				hold.extend(RenewalPolicy.deadline(sent, extension));
			}
			apply(held, result, sent, lease, now);
		}
	}

	private void apply(Ownership held, RenewResult result, long sent, long ttl, long now) {
		Hold hold = held.hold();
		if (held.state() != State.HELD || hold == null) {
			return;
		}
		if (hold.isOver(now)) {
			lose(held, Cause.EXPIRED, now);
			return;
		}
		long left = hold.deadline() - now;
		this.monitor.afterwards(() -> this.port.renewed(hold, result, left));
		switch (result) {
			case RENEWED -> held.lease().lengthen(sent, ttl);
			case NOT_OWNER -> {
				lose(held, Cause.NOT_OWNER, now);
				return;
			}
			case UNKNOWN -> held.lease().retryRenewal(now);
		}
		watch(hold);
	}

	// ends

	/** Returns the ownership, unless its lease is over. */
	private @Nullable Ownership present(long now) {
		Ownership present = this.ownership;
		if (present != null && present.owns() && now - present.expiry() >= 0) {
			lose(present, Cause.EXPIRED, now);
		}
		return this.ownership;
	}

	/** Releases at once: a renewal that was given up may have been carried out. */
	private void lose(Ownership lost, Cause cause, long now) {
		this.port.releasing(lost.token());
		ReleaseRequest release = declareLost(lost, cause, now);
		this.monitor.afterwards(() -> this.port.release(release, this, false));
	}

	private ReleaseRequest declareLost(Ownership lost, Cause cause, long now) {
		ReleaseRequest release = lost.releaseRequest(Duration.ZERO);
		lost.lose();
		this.due = NOT_DUE;
		drop(lost.token());
		Hold hold = lost.presentHold();
		hold.lose(cause);
		this.monitor.afterwards(() -> this.port.lost(hold, cause, now));
		settle();
		return release;
	}

	/**
	 * Takes away what is held: the work goes on without the lock.
	 * @param cause why it is lost
	 * @return the release to send, or null
	 */
	@Nullable ReleaseRequest surrender(Cause cause, long now) {
		try (Monitor entered = this.monitor.enter()) {
			Ownership held = this.ownership;
			if (held == null || !held.owns()) {
				return null;
			}
			return declareLost(held, cause, now);
		}
	}

	private void releaseInBackground(Ownership owned) {
		ReleaseRequest request = owned.releaseRequest(Duration.ZERO);
		boolean expectsMessage = owned.expectsMessage();
		owned.release();
		this.port.releasing(request.token());
		this.monitor.afterwards(() -> this.port.release(request, this, expectsMessage));
	}

	/**
	 * The release of an ownership has a result, or was given up.
	 */
	void released(OwnerToken token) {
		try (Monitor entered = this.monitor.enter()) {
			drop(token);
			settle();
		}
	}

	/**
	 * Reads the present ownership, if there is one, and the number of waiters.
	 */
	<T extends @Nullable Object> T read(BiFunction<@Nullable Ownership, Integer, T> reader) {
		return inside(() -> reader.apply(this.ownership, this.waiters.size()));
	}

	private <T extends @Nullable Object> T inside(Supplier<T> action) {
		try (Monitor entered = this.monitor.enter()) {
			return action.get();
		}
	}

	/** Forgets an ownership that has nothing to release. */
	private void drop(OwnerToken token) {
		if (this.ownership != null && this.ownership.token().equals(token)) {
			this.ownership = null;
		}
	}

}
