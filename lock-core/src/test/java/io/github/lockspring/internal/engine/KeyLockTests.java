package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.AcquireFailure.Busy;
import io.github.lockspring.internal.engine.AcquireFailure.Interrupted;
import io.github.lockspring.internal.engine.AcquireFailure.Unavailable;
import io.github.lockspring.internal.engine.Ownership.Grant;
import io.github.lockspring.internal.engine.WaiterAction.AcquireAttempt;
import io.github.lockspring.internal.engine.WaiterAction.Park;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest.QueueMode;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Single transitions of {@link KeyLock}, to the nanosecond, without threads and with time
 * in the hand. {@link PlayedEngineTests} plays their orders.
 */
class KeyLockTests {

	private static final long MILLI = 1_000_000;

	private static final Duration TTL = Duration.ofSeconds(3);

	/** From before a request was sent to the deadline of the lease that it got. */
	private static final long LEASE = TTL.toNanos() - RenewalPolicy.drift(TTL.toNanos());

	/** Time between the attempts of an instance that receives messages. */
	private static final long INTERVAL = 750 * MILLI;

	/** The time overflows three and a half seconds later. */
	private static final long START = Long.MAX_VALUE - 3_500 * MILLI;

	private static final LockParameters FIXED = parameters(false, TTL.toNanos(), OnLost.THROW);

	private static final LockParameters RENEWED = parameters(true, Time.FOREVER, OnLost.THROW);

	private final Port port = new Port();

	private final KeyLock lock = new KeyLock("job", this.port, new LocalHandoff(10 * MILLI),
			new RetrySchedule(() -> () -> 0, 400 * MILLI));

	private static LockParameters parameters(boolean renew, long maxHold, OnLost onLost) {
		return new LockParameters("job", null, TTL, renew, maxHold, 0, onLost, false);
	}

	private static PlainWaiter waiter(LockParameters parameters) {
		return new PlainWaiter(parameters, false);
	}

	private AcquireAttempt attempt(Waiter waiter, long now) {
		WaiterAction action = (this.port.tokens == 0) ? this.lock.enqueue(waiter, now) : this.lock.next(waiter, now);
		assertThat(action).isInstanceOf(AcquireAttempt.class);
		return (AcquireAttempt) action;
	}

	private Hold take(LockParameters parameters) {
		PlainWaiter waiter = waiter(parameters);
		this.lock.answered(waiter, attempt(waiter, START), new AcquireResult.Acquired(1), START);
		return waiter.hold();
	}

	/** Somebody else has the lock for a minute. */
	private PlainWaiter findBusy(PlainWaiter waiter) {
		this.lock.answered(waiter, attempt(waiter, START), new AcquireResult.Busy(60_000, 1), START);
		return waiter;
	}

	private @Nullable WaiterAction join(Waiter waiter, long now) {
		return this.lock.enqueue(waiter, now);
	}

	private Ownership ownership() {
		return this.lock.read((present, waiters) -> present);
	}

	// waiting

	@Test
	void firstAttemptNeedsNoInboxAndTheSecondWaiterOpensIt() {
		attempt(waiter(FIXED), START);
		assertThat(this.port.opened).isZero();
		join(waiter(FIXED), START);
		assertThat(this.port.opened).isEqualTo(1);
	}

	@Test
	void waiterBehindAHolderLooksAMillisecondAfterTheEndOfItsLease() {
		take(FIXED);
		PlainWaiter next = waiter(FIXED);
		assertThat(join(next, START)).isEqualTo(new Park(LEASE + MILLI));
		assertThat(this.lock.next(next, START + LEASE - 1)).isEqualTo(new Park(1 + MILLI));
		assertThat(this.lock.next(next, START + LEASE)).isInstanceOf(AcquireAttempt.class);
	}

	@Test
	void waiterLearnsThatTheApplicationHasStopped() {
		this.port.stopped = true;
		PlainWaiter waiter = waiter(FIXED);
		assertThat(join(waiter, START)).isSameAs(WaiterAction.DONE);
		assertThat(waiter.outcome()).isInstanceOfSatisfying(Unavailable.class,
				(failure) -> assertThat(failure.cause()).hasMessage("The application has stopped"));
	}

	@Test
	void lockGrantedAfterTheStopIsReleased() {
		PlainWaiter waiter = waiter(FIXED);
		AcquireAttempt attempt = attempt(waiter, START);
		this.port.stopped = true;
		this.lock.answered(waiter, attempt, new AcquireResult.Acquired(1), START);
		assertThat(waiter.outcome()).isNull();
		assertThat(this.lock.next(waiter, START)).isSameAs(WaiterAction.DONE);
		assertThat(this.port.released).extracting(Released::token).containsExactly(attempt.request().token());
	}

	@Test
	void waiterGoesAwayWhenTheApplicationStops() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		this.port.closing = true;
		assertThat(this.lock.next(waiter, START)).isSameAs(WaiterAction.DONE);
		assertThat(waiter.outcome()).isEqualTo(new Busy(LockMessages.CLOSING, true));
	}

	@Test
	void busySaysWhoHoldsTheLockAsFarAsIsKnown() {
		take(FIXED);
		assertThat(busyAtOnce()).isEqualTo(new Busy(LockMessages.heldHere(false, LEASE), false));
		PlainWaiter waiter = waiter(FIXED);
		join(waiter, START);
		this.lock.surrender(Cause.STOPPED, START);
		assertThat(busyAtOnce()).isEqualTo(new Busy(LockMessages.AHEAD_IN_QUEUE, false));
		AcquireAttempt attempt = attempt(waiter, START);
		assertThat(busyAtOnce()).isEqualTo(new Busy(LockMessages.AHEAD_IN_QUEUE, true));
		this.lock.answered(waiter, attempt, new AcquireResult.Busy(0, 1), START);
		assertThat(busyAtOnce()).isEqualTo(new Busy(LockMessages.heldElsewhere(START, START), true));
	}

	@Test
	void busySaysThatAKeyHasNoExpiry() {
		PlainWaiter waiter = waiter(FIXED);
		this.lock.answered(waiter, attempt(waiter, START), new AcquireResult.Busy(-1, 1), START);
		assertThat(busyAtOnce()).isEqualTo(new Busy(LockMessages.heldElsewhere(null, START), true));
	}

	private @Nullable Object busyAtOnce() {
		PlainWaiter once = new PlainWaiter(FIXED, true);
		assertThat(join(once, START)).isSameAs(WaiterAction.DONE);
		return once.outcome();
	}

	@Test
	void oneAttemptThatFindsTheLockBusyHasNothingToRelease() {
		PlainWaiter once = findBusy(new PlainWaiter(FIXED, true));
		assertThat(once.outcome()).isEqualTo(new Busy(LockMessages.heldElsewhere(START + 60_000 * MILLI, START), true));
		assertThat(this.port.released).isEmpty();
		assertThat(this.port.retired).isTrue();
	}

	@Test
	void oneAttemptThatIsRepeatedAfterAnInterruptIsReleasedThoughItFindsTheLockBusy() {
		PlainWaiter once = new PlainWaiter(FIXED, true);
		AcquireAttempt interrupted = attempt(once, START);
		this.lock.failed(once, interrupted, new LockUnavailableException("interrupted"), true, START);
		this.lock.answered(once, attempt(once, START), new AcquireResult.Busy(60_000, 1), START);
		assertThat(once.outcome()).isInstanceOf(Busy.class);
		assertThat(this.port.released).extracting(Released::token).containsExactly(interrupted.request().token());
	}

	@Test
	void messageDuringAnAttemptWakesNobody() {
		PlainWaiter waiter = waiter(FIXED);
		AcquireAttempt attempt = attempt(waiter, START);
		this.lock.attemptBy(START);
		assertThat(waiter.woken).isZero();
		this.lock.answered(waiter, attempt, new AcquireResult.Busy(60_000, 1), START);
		assertThat(waiter.woken).isEqualTo(1);
		attempt(waiter, START);
	}

	@Test
	void grantIsUsedWhileHalfOfItsLeaseIsLeft() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		Ownership waiting = ownership();
		long half = START + LEASE - TTL.toNanos() / 2;
		this.lock.granted(waiting, new Grant(2, false), half);
		assertThat(waiter.hold().deadline()).isEqualTo(START + LEASE);
	}

	@Test
	void grantWithLessThanHalfOfItsLeaseIsAskedFor() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		this.lock.granted(ownership(), new Grant(2, false), START + LEASE - TTL.toNanos() / 2 + 1);
		assertThat(waiter.outcome()).isNull();
		assertThat(waiter.woken).isEqualTo(1);
	}

	@Test
	void attemptIsRepeatedAtTheEndOfTheOwnersLease() {
		PlainWaiter waiter = waiter(FIXED);
		this.lock.answered(waiter, attempt(waiter, START), new AcquireResult.Busy(100, 1), START);
		assertThat(this.lock.next(waiter, START)).isEqualTo(new Park(100 * MILLI));
		this.lock.answered(waiter, attempt(waiter, START + 100 * MILLI), new AcquireResult.Busy(0, 1),
				START + 100 * MILLI);
		attempt(waiter, START + 100 * MILLI);
	}

	@Test
	void attemptIsRepeatedAfterTheIntervalWhereMessagesArrive() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		assertThat(this.lock.next(waiter, START)).isEqualTo(new Park(INTERVAL));
		assertThat(this.lock.next(waiter, START + INTERVAL - 1)).isEqualTo(new Park(1));
		attempt(waiter, START + INTERVAL);
	}

	@Test
	void tokenPollsInTheQueueWhenTheInboxHasHadItsTimeToOpen() {
		this.port.informed = false;
		PlainWaiter waiter = findBusy(waiter(FIXED));
		long opened = START + RetrySchedule.TIME_TO_OPEN_INBOX;
		AcquireAttempt early = attempt(waiter, opened - 1);
		assertThat(early.request().queueMode()).isEqualTo(QueueMode.NONE);
		this.lock.answered(waiter, early, new AcquireResult.Busy(0, 1), opened - 1);
		assertThat(attempt(waiter, opened).request().queueMode()).isEqualTo(QueueMode.POLL);
	}

	@Test
	void attemptIsSlowAfterAQuarterOfTheCommandTimeout() {
		RetrySchedule retry = new RetrySchedule(() -> () -> 0, 400 * MILLI);
		assertThat(retry.isSlow(START, START + 100 * MILLI - 1)).isFalse();
		assertThat(retry.isSlow(START, START + 100 * MILLI)).isTrue();
	}

	// going away

	@Test
	void lastWaiterToGoAwayLeavesTheQueueAndNothingStays() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		this.lock.cancel(waiter, new Interrupted(), START);
		assertThat(this.port.released).extracting(Released::expectsMessage).containsExactly(true);
		assertThat(this.port.retired).isTrue();
	}

	@Test
	void tokenThatIsNotInTheQueueExpectsNoMessage() {
		this.port.informed = false;
		this.lock.cancel(findBusy(waiter(FIXED)), new Interrupted(), START);
		assertThat(this.port.released).extracting(Released::expectsMessage).containsExactly(false);
	}

	@Test
	void tokenThatPollsExpectsNoMessage() {
		PlainWaiter waiter = findBusy(waiter(FIXED));
		this.port.informed = false;
		for (int i = 1; i <= 2; i++) {
			long now = START + i * INTERVAL;
			this.lock.answered(waiter, attempt(waiter, now), new AcquireResult.Busy(60_000, 1), now);
		}
		this.lock.cancel(waiter, new Interrupted(), START);
		assertThat(this.port.released).extracting(Released::expectsMessage).containsExactly(false);
	}

	@Test
	void tokenWhoseAttemptMayYetBeCarriedOutExpectsNoMessage() {
		PlainWaiter waiter = waiter(FIXED);
		attempt(waiter, START);
		this.lock.cancel(waiter, new Interrupted(), START);
		assertThat(this.port.released).extracting(Released::expectsMessage).containsExactly(false);
	}

	// holding

	@Test
	void holdIsOverAtItsDeadlineForEverybody() {
		Hold hold = take(FIXED);
		assertThat(this.lock.isHeld(hold, START + LEASE - 1)).isTrue();
		assertThat(this.port.lost).isEmpty();
		assertThat(this.lock.isHeld(hold, START + LEASE)).isFalse();
		assertThat(this.port.lost).containsExactly(Cause.EXPIRED);
		assertThat(this.lock.isHeld(hold, START)).isFalse();
		assertThat(hold).hasToString("Lock 'job' (1, LOST)");
	}

	@Test
	void leaseThatNeedNotBeRenewedIsLookedAtWhenItIsOver() {
		take(FIXED);
		assertThat(this.port.due).isEqualTo(START + LEASE).isEqualTo(this.lock.due());
		assertThat(this.lock.tick(START + LEASE - 1, new ArrayList<>())).isZero();
		assertThat(this.port.lost).isEmpty();
		assertThat(this.lock.tick(START + LEASE, new ArrayList<>())).isZero();
		assertThat(this.port.lost).containsExactly(Cause.EXPIRED);
		assertThat(this.lock.due()).isEqualTo(Watchdog.Watched.NOT_DUE);
		assertThat(this.lock.tick(START + LEASE, new ArrayList<>())).isZero();
	}

	@Test
	void leaseIsRenewedWithOthersFromASixthOfItsLengthBefore() {
		take(RENEWED);
		long due = START + TTL.toNanos() / 3;
		long window = TTL.toNanos() / 6;
		assertThat(this.port.due).isEqualTo(due);
		assertThat(this.lock.tick(due - window - 1, new ArrayList<>())).isZero();
		assertThat(this.lock.due()).isEqualTo(due);
		List<StoreDispatcher.Renewal> batch = new ArrayList<>();
		assertThat(this.lock.tick(due - window, batch)).isEqualTo(window);
		assertThat(batch).containsExactly(ownership());
		assertThat(this.lock.due()).isEqualTo(due - window + TTL.toNanos() / 3);
	}

	@Test
	void extensionIsWatchedAndKeepsTheLockFromTheNextWaiter() {
		Hold hold = take(FIXED);
		this.lock.renewedByHolder(hold, RenewResult.RENEWED, START, TTL.toNanos(), 2 * TTL.toNanos(), START);
		assertThat(hold.limit()).isEqualTo(RenewalPolicy.deadline(START, 2 * TTL.toNanos()));
		assertThat(this.lock.due()).isEqualTo(START + TTL.toNanos() / 3);
		PlainWaiter next = waiter(FIXED);
		join(next, START);
		assertThat(this.lock.end(hold, START).request()).isNotNull();
		assertThat(next.outcome()).isNull();
	}

	@Test
	void renewalWithoutAnExtensionLetsTheLockBeHandedOff() {
		Hold hold = take(FIXED);
		this.lock.renewedByHolder(hold, RenewResult.RENEWED, START, TTL.toNanos(), 0, START);
		assertThat(hold.limit()).isEqualTo(START + TTL.toNanos());
		PlainWaiter next = waiter(FIXED);
		join(next, START);
		assertThat(this.lock.end(hold, START)).isSameAs(Hold.End.HANDED_OFF);
		assertThat(next.hold().fencingToken()).isEqualTo(2);
	}

	@Test
	void lossInterruptsOnlyWhileItIsArmed() {
		Hold hold = take(FIXED);
		Hold.LossInterrupt first = this.lock.arm(hold);
		assertThat(hold.disarm(first)).isFalse();
		Hold.LossInterrupt second = this.lock.arm(hold);
		this.lock.surrender(Cause.STOPPED, START);
		assertThat(hold.lossInterrupt()).isSameAs(second);
	}

	@Test
	void ownershipIsKnownByItsKeyAndTheHoldByItsThread() {
		Hold hold = take(FIXED);
		assertThat(ownership().key()).isEqualTo("job");
		assertThat(ownership()).hasToString("lock 'job'");
		assertThat(hold.thread()).isSameAs(Thread.currentThread());
		assertThat(hold.isKept()).isFalse();
		hold.keep();
		assertThat(hold.isKept()).isTrue();
	}

	/**
	 * Counts how often it is woken.
	 */
	private static final class PlainWaiter extends Waiter {

		private int woken;

		PlainWaiter(LockParameters parameters, boolean once) {
			super(parameters, new WaitOptions(START + Time.FOREVER, once, Time.FOREVER, true, false));
		}

		Hold hold() {
			assertThat(outcome()).isInstanceOf(Hold.class);
			return (Hold) outcome();
		}

		@Override
		public void run() {
			this.woken++;
		}

		@Override
		Thread thread() {
			return Thread.currentThread();
		}

	}

	/**
	 * A release that was sent in the background.
	 */
	private record Released(OwnerToken token, boolean expectsMessage) {
	}

	/**
	 * Notes what the lock wants.
	 */
	private static final class Port implements KeyLockPort {

		private final List<Released> released = new ArrayList<>();

		private final List<Cause> lost = new ArrayList<>();

		private int tokens;

		private int opened;

		private boolean closing;

		private boolean stopped;

		private boolean informed = true;

		private boolean retired;

		private long due;

		@Override
		public Ownership newOwnership(KeyLock lock, int grantMillis) {
			return new Ownership(lock, new OwnerToken("AAAAAAAAAAAAAAAAAAAAAA", ++this.tokens, grantMillis),
					new RenewalPolicy(1 / 3.0));
		}

		@Override
		public void releasing(OwnerToken token) {
		}

		@Override
		public void retire(KeyLock lock) {
			this.retired = true;
		}

		@Override
		public void release(ReleaseRequest request, @Nullable KeyLock lock, boolean expectsMessage) {
			this.released.add(new Released(request.token(), expectsMessage));
		}

		@Override
		public void due(long at) {
			this.due = at;
		}

		@Override
		public void renewed(Hold hold, RenewResult result, long left) {
		}

		@Override
		public void lost(Hold hold, Cause cause, long now) {
			this.lost.add(cause);
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
			this.opened++;
		}

		@Override
		public void probeInbox() {
		}

	}

}
