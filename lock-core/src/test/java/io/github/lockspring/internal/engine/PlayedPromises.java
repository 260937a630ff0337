package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * What the engine promises, whatever the order of events. The first ones are looked at
 * after each event, the others when the event happens that they are about. The store says
 * who owns the lock, and the events say what was promised.
 */
final class PlayedPromises {

	/** How long the lock stays in an instance while another one waits. */
	static final long MAX_HANDOFF_NANOS = Duration.ofMillis(10).toNanos();

	/** The smallest drift allowance. */
	private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

	private final PlayedWorld world;

	private final PlayedStore store;

	private final PlayedFaults faults;

	/** The first and the last fencing token of each ownership. */
	private final Map<OwnerToken, Long> firstOf = new HashMap<>();

	private final Map<OwnerToken, Long> lastOf = new HashMap<>();

	private long lastFencingToken;

	/** Promises may be broken where the engine catches what is thrown. */
	private @Nullable IllegalStateException broken;

	PlayedPromises(PlayedWorld world, PlayedStore store, PlayedFaults faults) {
		this.world = world;
		this.store = store;
		this.faults = faults;
	}

	void check(boolean condition, String otherwise) {
		if (!condition) {
			broken(new IllegalStateException(otherwise));
		}
	}

	void broken(IllegalStateException ex) {
		this.broken = (this.broken != null) ? this.broken : ex;
	}

	/** Throws the first promise that was broken. */
	void areKept() {
		if (this.broken != null) {
			throw this.broken;
		}
	}

	// always

	/** A lease counts from the sending of the request that gave it, less the drift. */
	void holderOwnsTheLockInTheStore(List<PlayedUser> holders) {
		PlayedUser first = null;
		for (PlayedUser holder : holders) {
			if (!this.faults.excuseHolder(holder.token())) {
				check(first == null, "two holders: " + first + ", " + holder);
				check(holder.nanosLeft() + DRIFT_NANOS <= this.store.nanosLeft(holder.token()),
						holder + " relies on a lease that the store has not given");
				first = holder;
			}
		}
	}

	/** What an instance has given up leaves the store's lock and queue at once. */
	void tokensInTheStoreAreKnown(Set<OwnerToken> known, Set<String> alive) {
		for (OwnerToken token : this.store.tokens()) {
			if (this.store.nanosLeft(token) < 0) {
				this.faults.queued(token, this.world.now());
			}
			check(known.contains(token) || !alive.contains(token.instance()) || this.faults.excuseOrphan(token),
					"nobody knows " + token);
		}
	}

	/** A message or a new subscription calls for another attempt. */
	void promptedInstanceAsks(@Nullable KeyState state, long by) {
		if (state instanceof KeyState.Waiting || state instanceof KeyState.Retrying) {
			check(state.due() - by <= 0, state + " sleeps though prompted");
		}
	}

	/** The watchdog knows when to look at a lock, and looks at a hold before its end. */
	void watchdogIsTold(@Nullable KeyState state, long due, long earliest) {
		if (state == null || state instanceof KeyState.Releasing) {
			return;
		}
		check(due != Watchdog.Watched.NOT_DUE && earliest - due <= 0, "nobody looks at " + state);
		if (state instanceof Held held) {
			check(due - held.expiry() <= 1, held + " is watched too late");
		}
	}

	/** One that makes one attempt waits for its answer, and for nothing else. */
	void onceWaitsForItsAnswerOnly(PlayedUser user, @Nullable KeyState state) {
		check(!user.isUndecided() || !user.options().once() || state instanceof KeyState.Asking,
				user + " waits though it makes one attempt only");
	}

	// waiters

	/** At once, or when the first answer has taken long. Somebody looks at it now. */
	void waitEndsInTime(PlayedUser user, @Nullable KeyState state, long now) {
		boolean soon = state instanceof KeyState.Asking asking && asking.waitsForAnswerUntil() - now > 0;
		check(!user.isUndecided() || soon || user.options().until() - now > 0,
				user + " is not told that its time is over");
	}

	/** Waiters of an instance are served in the order of their arrival. */
	void firstWaiterIsServed(PlayedUser holder, List<PlayedUser> users) {
		for (PlayedUser user : users) {
			check(user.number() >= holder.number() || !user.isUndecided(), holder + " overtakes " + user);
		}
	}

	void stoppedInstanceHoldsNothing(List<PlayedUser> holders, List<PlayedUser> waiters) {
		check(holders.isEmpty(), "held after the stop: " + holders);
		check(waiters.isEmpty(), "waits after the stop: " + waiters);
	}

	// holds

	/** An answer or a grant that is too late, or stale, gives nothing. */
	void holdBeginsInItsLease(PlayedUser holder) {
		check(holder.isHolder(), holder + " gets a lease that is over");
	}

	void deadlineThatHasPassedIsFinal(boolean holds, boolean over) {
		check(!holds || !over, "held again after the end");
	}

	/** Local hand-offs included. */
	void fencingTokensGrow(OwnerToken token, long fencingToken) {
		this.firstOf.putIfAbsent(token, fencingToken);
		this.lastOf.put(token, fencingToken);
		if (!this.faults.excuseHolder(token)) {
			check(fencingToken > this.lastFencingToken, "token " + fencingToken + " after " + this.lastFencingToken);
			this.lastFencingToken = fencingToken;
		}
	}

	// renewals

	void dueRenewalIsSent(boolean due, boolean sent) {
		check(!due || sent, "the renewal that is due is not sent");
	}

	/** At a tenth of the lease after a failure, at a third while there is no result. */
	void renewalIsTriedAgain(long in, long longest) {
		check(in <= longest, "the renewal is tried again after " + in + ", not " + longest);
	}

	void refusedRenewalIsALoss(boolean held) {
		check(!held, "held although the store says that another owns the lock");
	}

	// ends

	void minHoldIsKept(long left, ReleaseRequest request) {
		check(request.keep().toNanos() >= left, "released " + left + " before the end of minHold");
	}

	void handOffWaitsForMinHold(long left) {
		check(left <= 0, "handed off " + left + " before the end of minHold");
	}

	/** A third is what a renewal has at any other time. */
	void handOffLeavesAThirdOfTheLease(long left, long lease) {
		check(left > lease / 3, "handed off with " + left + " left of " + lease);
	}

	void extendedLeaseIsNotHandedOff(boolean extended) {
		check(!extended, "an extended lease is handed off");
	}

	/** Others that are known to wait get their turn. */
	void handOffsEndWhenOthersWait(long contended) {
		check(contended < MAX_HANDOFF_NANOS, "handed off while others have waited for " + contended);
	}

	/** What was handed off tells its last fencing token. */
	void releaseReportsLastFencingToken(ReleaseRequest request, boolean first) {
		long last = this.lastOf.getOrDefault(request.token(), 0L);
		boolean handedOff = last > this.firstOf.getOrDefault(request.token(), 0L);
		check(!handedOff || !first || request.lastFencingToken() >= last,
				"the last fencing token of " + request.token() + " is not reported");
	}

}
