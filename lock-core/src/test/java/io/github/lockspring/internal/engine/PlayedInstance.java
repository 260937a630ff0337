package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockEvent;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.WaiterAction.Done;
import io.github.lockspring.internal.engine.WaiterAction.Park;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * An instance whose threads, clock and connections are played: only its {@link KeyLock}
 * is real. For one thread.
 */
final class PlayedInstance implements KeyLockPort {

	private static final String KEY = "order:42";

	private final PlayedWorld world;

	private final String name;

	/** Clocks run at different speeds, within the drift allowance, and overflow. */
	private final double speed;

	private final long offset;

	private final RetrySchedule retry;

	private @Nullable KeyLock lock;

	private final Set<OwnerToken> releasing = new HashSet<>();

	private final List<PlayedWaiter> waiters = new ArrayList<>();

	/** When a token became the owner, and when others were first known to wait for it. */
	private final Map<OwnerToken, Long> heldSince = new HashMap<>();

	private final Map<OwnerToken, Long> contendedSince = new HashMap<>();

	/** The ownership for which something has called for an attempt since the last one. */
	private @Nullable OwnerToken prompted;

	private long numbers;

	private int arrivals;

	private boolean informed = true;

	private boolean closing;

	private boolean stopped;

	private boolean dead;

	PlayedInstance(PlayedWorld world, String name) {
		this.world = world;
		this.name = name;
		this.speed = 1 + (world.random().nextInt(7) - 3) / 1000.0;
		this.offset = Long.MAX_VALUE - world.now() - world.random().nextLong(2_000_000_000L);
		this.retry = new RetrySchedule(world::random, Duration.ofMillis(200).toNanos());
	}

	long now() {
		return this.offset + (long) (this.world.now() * this.speed);
	}

	List<PlayedWaiter> waiters() {
		return this.waiters;
	}

	boolean isDead() {
		return this.dead;
	}

	boolean isSubscribed() {
		return this.informed && !this.dead;
	}

	/** Tells what is left of what it did; null if nothing is. */
	@Nullable String leftover() {
		if (this.lock != null || !this.releasing.isEmpty()) {
			return this.name + " keeps " + this.lock + ", " + this.releasing;
		}
		return null;
	}

	/** The token of its ownership, and those that it releases. */
	void addKnown(Set<OwnerToken> known) {
		known.addAll(this.releasing);
		Ownership present = present();
		if (present != null) {
			known.add(present.token());
		}
	}

	private @Nullable Ownership present() {
		return (this.lock != null) ? this.lock.read((ownership, waiting) -> ownership) : null;
	}

	/** The one that makes the attempts; null if nobody waits. */
	@Nullable PlayedWaiter firstWaiter() {
		for (PlayedWaiter waiter : this.waiters) {
			if (waiter.outcome() == null) {
				return waiter;
			}
		}
		return null;
	}

	/** What is held here and not lost; null if nothing is. */
	@Nullable Hold hold() {
		for (PlayedWaiter waiter : this.waiters) {
			if (waiter.hold != null && waiter.hold.isActive()) {
				return waiter.hold;
			}
		}
		return null;
	}

	/** Whether something has called for an attempt, and none is under way. */
	boolean isPrompted() {
		Ownership present = present();
		return present != null && present.isWaiting() && present.token().equals(this.prompted);
	}

	/** Calls for an attempt, if it is not known who owns the lock. */
	private void prompt() {
		Ownership present = present();
		if (present != null && (present.isWaiting() || present.state() == Ownership.State.ATTEMPTING)) {
			this.prompted = present.token();
		}
	}

	/** For how long others are known to have waited for what is held here. */
	private long contendedFor(OwnerToken token, long now) {
		long held = this.heldSince.getOrDefault(token, now);
		Long others = this.contendedSince.get(token);
		if (others == null) {
			return this.informed ? 0 : now - held;
		}
		return now - Time.later(held, others);
	}

	private KeyLock lock() {
		if (this.lock == null) {
			this.lock = new KeyLock(KEY, this, new LocalHandoff(PlayedPromises.MAX_HANDOFF_NANOS), this.retry);
		}
		return this.lock;
	}

	// what is played

	void enqueue(LockParameters parameters, long waitTime, boolean once) {
		this.waiters.removeIf(PlayedWaiter::isDone);
		PlayedWaiter waiter = new PlayedWaiter(parameters,
				new Waiter.WaitOptions(now() + waitTime, once, Time.FOREVER, true, false), this.arrivals++);
		this.waiters.add(waiter);
		waiter.enqueue();
	}

	void crash() {
		this.dead = true;
		this.waiters.clear();
		this.releasing.clear();
		this.lock = null;
	}

	void close() {
		this.closing = true;
		if (this.lock != null) {
			this.lock.wakeAll();
		}
	}

	void stop() {
		close();
		this.stopped = true;
		ReleaseRequest request = (this.lock != null) ? this.lock.surrender(Cause.STOPPED, now()) : null;
		if (request != null) {
			this.world.release(this, request, (result) -> {
			});
		}
		this.world.promises()
			.stoppedInstanceHoldsNothing(this.waiters.stream().filter(PlayedWaiter::isHolder).toList());
	}

	/** Loses its subscription, or gets it back: messages may have been missed. */
	void toggleInbox() {
		this.informed = !this.informed;
		if (this.informed && this.lock != null) {
			prompt();
			this.lock.attemptBy(now());
		}
	}

	/** The earliest time at which the watchdog has something to do; null without one. */
	@Nullable Long nextDue() {
		return (this.lock != null && this.lock.due() != Watchdog.Watched.NOT_DUE) ? this.lock.due() : null;
	}

	void watch() {
		Long due = nextDue();
		if (due == null || due - now() > 0) {
			return;
		}
		Hold held = hold();
		boolean renew = held != null && held.parameters().renew() && now() - lease().renewAt() >= 0;
		List<StoreDispatcher.Renewal> batch = new ArrayList<>();
		lock().tick(now(), batch);
		if (batch.isEmpty()) {
			this.world.promises().dueRenewalIsSent(renew && held.isActive());
			return;
		}
		Ownership ownership = (Ownership) batch.get(0);
		long sent = now();
		RenewRequest request = ownership.renewRequest(sent);
		if (request != null) {
			this.world.promises().renewalIsTriedAgain(untilDue(), length() / 3);
			this.world.renew(this, request, (result) -> {
				ownership.renewed((result != null) ? result : RenewResult.UNKNOWN, sent, request.ttl().toNanos(),
						now());
				checkRenewed(ownership, result);
			});
		}
	}

	private void checkRenewed(Ownership ownership, @Nullable RenewResult result) {
		Hold hold = ownership.hold();
		if (hold == null || !hold.isActive()) {
			return;
		}
		this.world.promises().refusedRenewalIsALoss(result == RenewResult.NOT_OWNER);
		if (result == null && hold.parameters().renew()) {
			this.world.promises().renewalIsTriedAgain(untilDue(), length() / 10);
		}
	}

	private @Nullable Long untilDue() {
		Long due = nextDue();
		return (due != null) ? due - now() : null;
	}

	private Lease lease() {
		Ownership present = present();
		PlayedPromises.check(present != null, "nothing is owned");
		return present.lease();
	}

	/** The length of the lease, with what its sixth leaves out. */
	private long length() {
		return (lease().window() + 1) * 6;
	}

	void granted(OwnerToken token, long fencingToken, boolean othersWait) {
		Ownership ownership = known(token);
		if (ownership != null) {
			prompt();
			if (othersWait && !ownership.owns()) {
				this.contendedSince.putIfAbsent(token, now());
			}
			ownership.granted(new Ownership.Grant(fencingToken, othersWait), now());
		}
	}

	void wanted(OwnerToken token) {
		Ownership ownership = known(token);
		if (ownership != null) {
			prompt();
			this.contendedSince.putIfAbsent(token, now());
			ownership.wanted(now());
		}
	}

	private @Nullable Ownership known(OwnerToken token) {
		Ownership present = present();
		if (present != null && present.token().equals(token)) {
			return present;
		}
		if (!this.releasing.contains(token)) {
			release(new ReleaseRequest(KEY, token), null, false);
		}
		return null;
	}

	// the port

	@Override
	public Ownership newOwnership(KeyLock lock, int grantMillis) {
		return new Ownership(lock, new OwnerToken(this.name, ++this.numbers, grantMillis), new RenewalPolicy(1.0 / 3));
	}

	@Override
	public void releasing(OwnerToken token) {
		this.releasing.add(token);
	}

	@Override
	public void retire(KeyLock retired) {
		PlayedPromises.check(this.lock == retired, "retired twice");
		this.lock = null;
	}

	@Override
	public void release(ReleaseRequest request, @Nullable KeyLock told, boolean expectsMessage) {
		this.world.release(this, request, (result) -> {
			if (told != null) {
				this.releasing.remove(request.token());
				if (expectsMessage && result instanceof ReleaseResult.Released) {
					probeInbox();
				}
				told.released(request.token());
			}
		});
	}

	@Override
	public void due(long at) {
		// nextDue() asks
	}

	@Override
	public void renewed(Hold hold, RenewResult result, long left) {
		this.world.trace("%s: renewal of %s, %s", this.name, hold.fencingToken(), result);
	}

	@Override
	public void lost(Hold hold, LockEvent.Lost.Cause cause, long now) {
		this.world.trace("%s: lost %s, %s", this.name, hold.fencingToken(), cause);
	}

	@Override
	public boolean isClosing() {
		return this.closing;
	}

	@Override
	public boolean isStopped() {
		return this.stopped;
	}

	@Override
	public boolean hasQueue() {
		return true;
	}

	@Override
	public Duration lease(Duration ttl) {
		return ttl;
	}

	@Override
	public boolean isInformed() {
		return this.informed;
	}

	@Override
	public void openInbox() {
	}

	@Override
	public void probeInbox() {
	}

	@Override
	public String toString() {
		return this.name;
	}

	/**
	 * A waiter that does one step at a time.
	 */
	final class PlayedWaiter extends Waiter {

		private final int number;

		private @Nullable KeyLock mine;

		/** Whether a result is awaited. */
		private boolean calling;

		private @Nullable AcquireAttempt attempt;

		private @Nullable Long parkedUntil;

		private @Nullable Hold hold;

		private long heldAt;

		/** Whether it was the one that lengthened the lease. */
		private boolean extended;

		/** Gives up waiting for a result. */
		private Runnable giveUp = () -> {
		};

		/** Whether it has seen that it does not hold the lock any more. */
		private boolean over;

		private boolean done;

		PlayedWaiter(LockParameters parameters, WaitOptions options, int number) {
			super(parameters, options);
			this.number = number;
		}

		@Override
		public void run() {
			this.parkedUntil = null;
			if (outcome() instanceof Hold granted && this.hold == null) {
				this.hold = granted;
				this.heldAt = now();
				PlayedInstance.this.heldSince.putIfAbsent(granted.token(), now());
				promises().holdBeginsInItsLease(this);
				PlayedInstance.this.world.held(granted.token(), granted.fencingToken());
			}
		}

		@Override
		@Nullable Thread thread() {
			return null;
		}

		boolean isDone() {
			return this.done;
		}

		boolean isRunnable() {
			return !this.done && !this.calling && this.hold == null
					&& (this.parkedUntil == null || now() - this.parkedUntil >= 0);
		}

		@Nullable Long parkedUntil() {
			return this.calling ? null : this.parkedUntil;
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
			return (long) ((held().deadline() - now()) / PlayedInstance.this.speed);
		}

		private PlayedPromises promises() {
			return PlayedInstance.this.world.promises();
		}

		boolean isHolding() {
			return this.hold != null && !this.calling;
		}

		private KeyLock mine() {
			PlayedPromises.check(this.mine != null, "no lock");
			return this.mine;
		}

		private void enqueue() {
			WaiterAction action = null;
			while (action == null) {
				this.mine = lock();
				action = this.mine.enqueue(this, now());
			}
			perform(action);
		}

		void step() {
			this.parkedUntil = null;
			perform(mine().next(this, now()));
		}

		boolean isWaiting() {
			return !this.done && this.hold == null;
		}

		/** Goes away, which may also end its attempt. */
		void cancel(boolean interrupt) {
			KeyLock lock = mine();
			if (this.calling && this.attempt != null && outcome() == null) {
				if (interrupt) {
					this.giveUp.run();
					this.calling = false;
					lock.failed(this, this.attempt, PlayedWorld.NO_RESULT, true, now());
				}
				prompt();
			}
			lock.cancel(this, new AcquireFailure.Interrupted(), now());
			if (!this.calling && this.hold == null) {
				step();
			}
		}

		private void perform(WaiterAction action) {
			PlayedInstance.this.world.trace("%s: %s", this, action);
			if (action instanceof Done) {
				finish();
			}
			else if (action instanceof Park park) {
				this.parkedUntil = now() + park.nanos();
			}
			else if (action instanceof AcquireAttempt attempt) {
				this.calling = true;
				this.attempt = attempt;
				PlayedInstance.this.prompted = null;
				this.giveUp = PlayedInstance.this.world.acquire(PlayedInstance.this, attempt.request(), (result) -> {
					this.calling = false;
					if (result instanceof AcquireResult.Acquired) {
						// a message during the attempt has no more to say
						PlayedInstance.this.prompted = null;
					}
					if (result != null) {
						mine().answered(this, attempt, result, now());
					}
					else {
						mine().failed(this, attempt, PlayedWorld.NO_RESULT, false, now());
					}
				});
			}
		}

		private void finish() {
			PlayedPromises.check(outcome() != null, "done without an outcome");
			PlayedPromises.check(!(outcome() instanceof Hold) || this.hold != null, "not woken for its hold");
			this.done = outcome() instanceof AcquireFailure;
		}

		/** Asks whether it holds the lock: once it does not, it never does again. */
		void look() {
			Hold present = held();
			observe(present.isActive() && (!present.isOver(now()) || mine().isHeld(present, now())));
		}

		/** Sees whether it holds the lock, without asking. */
		void observe() {
			observe(isHolder());
		}

		private void observe(boolean holds) {
			promises().deadlineThatHasPassedIsFinal(holds, this.over);
			this.over |= !holds;
		}

		void renew() {
			Hold present = held();
			long sent = now();
			RenewRequest request = new RenewRequest(KEY, present.token(), parameters().ttl());
			PlayedInstance.this.world.renew(PlayedInstance.this, request, (result) -> {
				if (result != null) {
					boolean extend = PlayedInstance.this.world.random().nextBoolean();
					mine().renewedByHolder(present, result, sent, parameters().ttlNanos(),
							extend ? parameters().ttlNanos() : 0, now());
					this.extended |= extend && isHolder();
				}
			});
		}

		void end(boolean inBackground) {
			look();
			long now = now();
			Hold ended = held();
			Hold.End end = mine().end(ended, now);
			checkEnd(ended, end, now);
			PlayedPromises.check(end.outcome() != Hold.End.Outcome.REPEATED, "ended before");
			PlayedPromises.check(end.outcome() != Hold.End.Outcome.ENDED || !this.over, "lost, and not told");
			ReleaseRequest request = end.request();
			PlayedInstance.this.world.trace("%s: ends, %s", this, end);
			boolean async = held().parameters().asyncRelease();
			this.done = true;
			this.hold = null;
			if (request != null && (inBackground || end.outcome() == Hold.End.Outcome.LOST)) {
				release(request, mine(), false);
			}
			else if (request != null && async) {
				// it may even overtake what is sent after it
				PlayedInstance.this.world.release(PlayedInstance.this, request, (result) -> {
				});
				mine().released(request.token());
			}
			else if (request != null) {
				this.calling = true;
				PlayedInstance.this.world.release(PlayedInstance.this, request, (@Nullable ReleaseResult result) -> {
					this.calling = false;
					mine().released(request.token());
				});
			}
		}

		private void checkEnd(Hold ended, Hold.End end, long now) {
			long minHold = this.heldAt + parameters().minHold() - now;
			if (end.outcome() != Hold.End.Outcome.ENDED) {
				return;
			}
			if (end.request() != null) {
				promises().minHoldIsKept(minHold, end.request());
				return;
			}
			promises().handOffWaitsForMinHold(minHold);
			promises().handOffLeavesAThirdOfTheLease(ended.deadline() - now, lease().window() * 6);
			promises().extendedLeaseIsNotHandedOff(this.extended);
			promises().handOffsEndWhenOthersWait(contendedFor(ended.token(), now));
		}

		private Hold held() {
			PlayedPromises.check(this.hold != null, "holds nothing");
			return this.hold;
		}

		@Override
		public String toString() {
			return PlayedInstance.this.name + this.number;
		}

	}

}
