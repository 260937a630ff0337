package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.internal.engine.PlayedInstance.PlayedWaiter;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * What the engine promises, whatever the order of events. The first four are looked at
 * after each event, the others when the event happens that they are about. The store says
 * who owns the lock, and the events say what was promised.
 */
final class PlayedPromises {

	/** How long the lock stays in an instance while another one waits. */
	static final long MAX_HANDOFF_NANOS = Duration.ofMillis(10).toNanos();

	/** The smallest drift allowance. */
	private static final long DRIFT_NANOS = Duration.ofMillis(2).toNanos();

	private final PlayedStore store;

	private final PlayedFaults faults;

	/** The first and the last fencing token of each ownership. */
	private final Map<OwnerToken, Long> firstOf = new HashMap<>();

	private final Map<OwnerToken, Long> lastOf = new HashMap<>();

	private long lastFencingToken;

	PlayedPromises(PlayedStore store, PlayedFaults faults) {
		this.store = store;
		this.faults = faults;
	}

	static void check(boolean condition, String otherwise) {
		if (!condition) {
			throw new IllegalStateException(otherwise);
		}
	}

	// always

	/** A lease counts from the sending of the request that gave it, less the drift. */
	void holderOwnsTheLockInTheStore(List<PlayedWaiter> holders) {
		PlayedWaiter first = null;
		for (PlayedWaiter holder : holders) {
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
			check(known.contains(token) || !alive.contains(token.instance()) || this.faults.excuseOrphan(token),
					"nobody knows " + token);
		}
	}

	/**
	 * A message, a new subscription or an attempt that was given up calls for another.
	 */
	void promptedInstanceAsks(PlayedInstance instance) {
		if (instance.isPrompted()) {
			PlayedWaiter first = instance.firstWaiter();
			check(first == null || first.isRunnable(), first + " sleeps though prompted");
		}
	}

	/** Somebody looks in time at a lock that is held, and nobody at one that is not. */
	void watchdogLooksAtHolders(@Nullable Long due, @Nullable Hold hold) {
		if (due == null || hold == null) {
			check(due == null && hold == null, "watched at " + due + ": " + hold);
		}
		else {
			check(due - hold.expiry() <= 1, hold + " is watched too late");
		}
	}

	// holds

	/** An answer or a grant that is too late, or stale, gives nothing. */
	void holdBeginsInItsLease(PlayedWaiter holder) {
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

	void dueRenewalIsSent(boolean due) {
		check(!due, "the renewal that is due is not sent");
	}

	/** At a tenth of the lease after a failure, at a third while there is no result. */
	void renewalIsTriedAgain(@Nullable Long in, long longest) {
		check(in != null && in <= longest, "the renewal is tried again after " + in + ", not " + longest);
	}

	void refusedRenewalIsALoss(boolean refused) {
		check(!refused, "held although the store says that another owns the lock");
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

	/** An unknown token has told its last fencing token before. */
	void releaseReportsLastFencingToken(ReleaseRequest request) {
		long last = this.lastOf.getOrDefault(request.token(), 0L);
		boolean handedOff = last > this.firstOf.getOrDefault(request.token(), 0L);
		check(!handedOff || request.ttl().isZero() || request.lastFencingToken() >= last,
				"the last fencing token of " + request.token() + " is not reported");
	}

	void stoppedInstanceHoldsNothing(List<PlayedWaiter> holders) {
		check(holders.isEmpty(), "held after the stop: " + holders);
	}

	void nothingIsLeft(PlayedInstance instance) {
		check(instance.leftover() == null, "left over: " + instance.leftover());
	}

}
