package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockEvent;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.WaiterAction.Done;
import io.github.lockspring.internal.engine.WaiterAction.Park;
import io.github.lockspring.internal.engine.support.Time;
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

	private long numbers;

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

	/** Tells whether nothing is left of what it did. */
	@Nullable String leftover() {
		if (this.lock != null || !this.releasing.isEmpty()) {
			return this.name + " keeps " + this.lock + ", " + this.releasing;
		}
		return null;
	}

	private KeyLock lock() {
		if (this.lock == null) {
			this.lock = new KeyLock(KEY, this, new LocalHandoff(10_000_000), this.retry);
		}
		return this.lock;
	}

	// what is played

	void enqueue(LockParameters parameters, long waitTime, boolean once) {
		PlayedWaiter waiter = new PlayedWaiter(parameters,
				new Waiter.WaitOptions(now() + waitTime, once, Time.FOREVER, true, false), this.waiters.size());
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
	}

	/** Loses its subscription, or gets it back: messages may have been missed. */
	void toggleInbox() {
		this.informed = !this.informed;
		if (this.informed && this.lock != null) {
			this.lock.attemptBy(now());
		}
	}

	/** The earliest time at which the watchdog has something to do; null without one. */
	@Nullable Long nextDue() {
		return (this.lock != null && this.lock.due() != Watchdog.Watched.NOT_DUE) ? this.lock.due() : null;
	}

	void watch() {
		Long due = nextDue();
		Ownership ownership = (this.lock != null && due != null && due - now() <= 0) ? this.lock.tick(now()) : null;
		if (ownership == null) {
			return;
		}
		long sent = now();
		RenewRequest request = ownership.renewRequest(sent);
		if (request != null) {
			this.world.renew(this, request, (result) -> {
				ownership.renewed((result != null) ? result : RenewResult.UNKNOWN, sent, request.ttl().toNanos(),
						now());
				Hold hold = ownership.hold();
				PlayedWorld.check(result != RenewResult.NOT_OWNER || hold == null || !hold.isActive(),
						"held although the store says that another owns the lock");
			});
		}
	}

	void granted(OwnerToken token, long fencingToken, boolean othersWait) {
		Ownership ownership = known(token);
		if (ownership != null) {
			ownership.granted(new Ownership.Grant(fencingToken, othersWait), now());
		}
	}

	void wanted(OwnerToken token) {
		Ownership ownership = known(token);
		if (ownership != null) {
			ownership.wanted(now());
		}
	}

	private @Nullable Ownership known(OwnerToken token) {
		Ownership present = (this.lock != null) ? this.lock.read((ownership, waiting) -> ownership) : null;
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
		PlayedWorld.check(this.lock == retired, "retired twice");
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

		private @Nullable Long parkedUntil;

		private @Nullable Hold hold;

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

		boolean isHolding() {
			return this.hold != null && !this.calling;
		}

		private KeyLock mine() {
			PlayedWorld.check(this.mine != null, "no lock");
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

		void cancel() {
			mine().cancel(this, new AcquireFailure.Interrupted(), now());
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
				PlayedInstance.this.world.acquire(PlayedInstance.this, attempt.request(), (result) -> {
					this.calling = false;
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
			PlayedWorld.check(outcome() != null, "done without an outcome");
			PlayedWorld.check(!(outcome() instanceof Hold) || this.hold != null, "not woken for its hold");
			this.done = outcome() instanceof AcquireFailure;
		}

		/** Asks whether it holds the lock: once it does not, it never does again. */
		void look() {
			Hold present = held();
			boolean holds = present.isActive() && (!present.isOver(now()) || mine().isHeld(present, now()));
			PlayedWorld.check(!holds || !this.over, "held again after the end");
			this.over |= !holds;
		}

		void renew() {
			Hold present = held();
			long sent = now();
			RenewRequest request = new RenewRequest(KEY, present.token(), parameters().ttl());
			PlayedInstance.this.world.renew(PlayedInstance.this, request, (result) -> {
				if (result != null) {
					mine().renewedByHolder(present, result, sent, parameters().ttlNanos(),
							PlayedInstance.this.world.random().nextBoolean() ? parameters().ttlNanos() : 0, now());
				}
			});
		}

		void end(boolean inBackground) {
			look();
			Hold.End end = mine().end(held(), now());
			PlayedWorld.check(end.outcome() != Hold.End.Outcome.REPEATED, "ended before");
			PlayedWorld.check(end.outcome() != Hold.End.Outcome.ENDED || !this.over, "lost, and not told");
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

		private Hold held() {
			PlayedWorld.check(this.hold != null, "holds nothing");
			return this.hold;
		}

		@Override
		public String toString() {
			return PlayedInstance.this.name + this.number;
		}

	}

}
