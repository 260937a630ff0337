package io.github.lockspring.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.AcquireAnswer.Acquired;
import io.github.lockspring.store.AcquireAnswer.Busy;
import io.github.lockspring.store.AcquireQuestion.Look;
import io.github.lockspring.store.RecordingListener.Grant;
import io.github.lockspring.store.RecordingListener.Wanted;
import io.github.lockspring.store.ReleaseAnswer.NotOwner;
import io.github.lockspring.store.ReleaseAnswer.Released;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What every store with a queue has to do.
 */
public abstract class AbstractLockStoreTests {

	protected static final Duration TIMEOUT = Duration.ofSeconds(5);

	protected static final Duration LONG = Duration.ofSeconds(30);

	protected static final Duration BRIEF = Duration.ofMillis(150);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	protected final String key = "key " + SEQUENCE.incrementAndGet();

	protected LockStore store;

	private final List<Inbox> inboxes = new ArrayList<>();

	/**
	 * A store whose locks no other test sees.
	 */
	protected abstract LockStore createStore();

	/**
	 * Makes the store lose all it has stored.
	 */
	protected abstract void loseEverything();

	/**
	 * Milliseconds that the lock is still taken for; not positive if it is free.
	 */
	protected abstract long remainingMillis(String key);

	/**
	 * Number of things stored that do not end within the fencing token's time.
	 */
	protected abstract int leftovers();

	@BeforeEach
	void setUp() {
		this.store = createStore();
	}

	@AfterEach
	void tearDown() {
		this.inboxes.forEach(Inbox::close);
		this.store.close();
	}

	@Test
	void freeLockIsAcquiredForItsTtl() {
		OwnerToken token = token();
		assertThat(acquire(token, LONG)).isInstanceOf(Acquired.class);
		assertThat(remainingMillis(this.key)).isBetween(LONG.toMillis() - 5000, LONG.toMillis());
	}

	@Test
	void takenLockIsBusyAndSaysForHowLongAndWhichFenceWasSeen() {
		long fence = fence(acquire(token(), LONG));
		Busy busy = (Busy) acquire(token(), LONG);
		assertThat(busy.remainingMillis()).isBetween(LONG.toMillis() - 5000, LONG.toMillis());
		assertThat(busy.fenceSeen()).isGreaterThanOrEqualTo(fence);
	}

	@Test
	void f20AcquiringAgainWithTheSameTokenSucceeds() {
		OwnerToken token = token();
		long first = fence(acquire(token, LONG));
		assertThat(fence(acquire(token, LONG))).isGreaterThanOrEqualTo(first);
	}

	@Test
	void acquiringAgainNeverShortensTheLease() {
		OwnerToken token = token();
		acquire(token, LONG);
		acquire(token, BRIEF);
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis() - 5000);
		acquire(token, LONG.multipliedBy(2));
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis());
	}

	@Test
	void releasedLockIsFree() {
		OwnerToken token = token();
		acquire(token, LONG);
		assertThat(release(token)).isEqualTo(new Released());
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(acquire(token(), LONG)).isInstanceOf(Acquired.class);
	}

	@Test
	void f04LateReleaseDoesNotTouchTheNextHoldersLock() {
		OwnerToken first = token();
		acquire(first, BRIEF);
		OwnerToken second = token();
		await().until(() -> acquire(second, LONG) instanceof Acquired);
		assertThat(release(first)).isInstanceOf(NotOwner.class);
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis() - 5000);
		assertThat(release(second)).isEqualTo(new Released());
	}

	@Test
	void f05LockIsNeverReleasedBetweenComparingAndDeleting() throws Exception {
		// two owners take turns as fast as they can, each repeats its releases late
		AtomicLong inside = new AtomicLong();
		List<Callable<Void>> owners = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			owners.add(() -> {
				for (int round = 0; round < 60; round++) {
					OwnerToken token = token();
					while (!(acquire(token, LONG) instanceof Acquired)) {
						Thread.onSpinWait();
					}
					assertThat(inside.incrementAndGet()).isEqualTo(1);
					inside.decrementAndGet();
					release(token);
					assertThat(release(token)).isInstanceOf(NotOwner.class);
				}
				return null;
			});
		}
		runAtOnce(owners);
	}

	@Test
	void f06RenewalDoesNotLengthenSomebodyElsesLock() {
		acquire(token(), BRIEF);
		assertThat(renew(token(), LONG)).containsExactly(RenewAnswer.NOT_OWNER);
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(BRIEF.toMillis());
	}

	@Test
	void f16OfManyRacingForOneExpiryExactlyOneWins() throws Exception {
		acquire(token(), BRIEF);
		List<Callable<Boolean>> racers = new ArrayList<>();
		for (int i = 0; i < 8; i++) {
			racers.add(() -> {
				OwnerToken token = token();
				long start = System.nanoTime();
				boolean won = false;
				while (!won && System.nanoTime() - start < 3 * BRIEF.toNanos()) {
					won = acquire(token, LONG) instanceof Acquired;
				}
				return won;
			});
		}
		assertThat(runAtOnce(racers)).containsOnlyOnce(true);
	}

	@Test
	void f19ReleaseAndRenewalByAStrangerChangeNothing() {
		OwnerToken owner = token();
		long fence = fence(acquire(owner, LONG));
		OwnerToken stranger = token();
		assertThat(release(stranger)).isEqualTo(new NotOwner(fence));
		assertThat(renew(stranger, LONG)).containsExactly(RenewAnswer.NOT_OWNER);
		assertThat(renew(owner, LONG)).containsExactly(RenewAnswer.RENEWED);
	}

	@Test
	void expiredLockIsFreeAndItsOwnerCannotRenewIt() {
		OwnerToken first = token();
		acquire(first, BRIEF);
		await().until(() -> remainingMillis(this.key) <= 0);
		assertThat(renew(first, LONG)).containsExactly(RenewAnswer.NOT_OWNER);
		assertThat(acquire(token(), LONG)).isInstanceOf(Acquired.class);
	}

	@Test
	void fencesOfSuccessiveHoldersGrow() {
		long last = 0;
		for (int i = 0; i < 20; i++) {
			OwnerToken token = token();
			long fence = fence(acquire(token, LONG));
			assertThat(fence).isGreaterThan(last).isLessThan(1L << 53);
			last = fence;
			release(token);
		}
	}

	@Test
	void f10FencesGrowAlsoAfterTheStoreLostItsData() {
		OwnerToken first = token();
		long before = fence(acquire(first, LONG));
		loseEverything();
		assertThat(renew(first, LONG)).containsExactly(RenewAnswer.NOT_OWNER);
		assertThat(fence(acquire(token(), LONG))).isGreaterThan(before);
	}

	@Test
	void fenceRaisedOutsideTheStoreIsRememberedByTheRelease() {
		OwnerToken first = token();
		long raised = fence(acquire(first, LONG)) + 60_000_000_000L;
		this.store.release(new ReleaseQuestion(this.key, first, LONG, raised, Duration.ZERO), TIMEOUT);
		assertThat(fence(acquire(token(), LONG))).isEqualTo(raised + 1);
	}

	@Test
	void smallerFenceOfAReleaseIsIgnored() {
		OwnerToken first = token();
		long fence = fence(acquire(first, LONG));
		this.store.release(new ReleaseQuestion(this.key, first, LONG, 1, Duration.ZERO), TIMEOUT);
		assertThat(fence(acquire(token(), LONG))).isGreaterThan(fence);
	}

	@Test
	void keptLockIsNobodysUntilItEndsByItself() {
		OwnerToken first = token();
		acquire(first, LONG);
		ReleaseQuestion keep = new ReleaseQuestion(this.key, first, LONG, 0, BRIEF.multipliedBy(4));
		assertThat(this.store.release(keep, TIMEOUT)).isEqualTo(new Released());
		assertThat(this.store.release(keep, TIMEOUT)).as("repeated").isEqualTo(new Released());
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(BRIEF.toMillis() * 4);
		assertThat(acquire(token(), LONG)).isInstanceOf(Busy.class);
		assertThat(renew(first, LONG)).containsExactly(RenewAnswer.NOT_OWNER);
		assertThat(acquire(first, LONG)).as("the old token has ended").isInstanceOf(Busy.class);
		await().until(() -> acquire(token(), LONG) instanceof Acquired);
	}

	@Test
	void renewalAnswersEachQuestionInItsPlace() {
		OwnerToken mine = token();
		OwnerToken alsoMine = token();
		this.store.acquire(new AcquireQuestion(this.key + "a", mine, BRIEF.multipliedBy(10), Look.ONCE), TIMEOUT);
		this.store.acquire(new AcquireQuestion(this.key + "b", token(), BRIEF.multipliedBy(10), Look.ONCE), TIMEOUT);
		this.store.acquire(new AcquireQuestion(this.key + "c", alsoMine, LONG.multipliedBy(2), Look.ONCE), TIMEOUT);
		List<RenewQuestion> questions = List.of(new RenewQuestion(this.key + "a", mine, LONG),
				new RenewQuestion(this.key + "b", mine, LONG), new RenewQuestion(this.key + "c", alsoMine, BRIEF),
				new RenewQuestion(this.key + "nobody's", mine, LONG));
		assertThat(this.store.renew(questions, TIMEOUT)).containsExactly(RenewAnswer.RENEWED, RenewAnswer.NOT_OWNER,
				RenewAnswer.RENEWED, RenewAnswer.NOT_OWNER);
		assertThat(remainingMillis(this.key + "a")).isGreaterThan(LONG.toMillis() - 5000);
		assertThat(remainingMillis(this.key + "b")).isLessThanOrEqualTo(BRIEF.toMillis() * 10);
		assertThat(remainingMillis(this.key + "c")).as("never shortened").isGreaterThan(LONG.toMillis());
		assertThat(remainingMillis(this.key + "nobody's")).isNotPositive();
		assertThat(this.store.renew(List.of(), TIMEOUT)).isEmpty();
	}

	@Test
	void lockIsHandedOverInTheOrderOfTheQueueWithTheGrantsOwnTtl() {
		RecordingListener second = openInbox(instance('2'));
		RecordingListener third = openInbox(instance('3'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		OwnerToken waitsFirst = new OwnerToken(instance('3'), 1, 5000);
		OwnerToken waitsSecond = new OwnerToken(instance('2'), 1, 700);
		long seen = ((Busy) look(waitsFirst, Look.FIRST)).fenceSeen();
		look(waitsSecond, Look.FIRST);
		assertThat(look(waitsFirst, Look.AGAIN)).as("keeps its place").isInstanceOf(Busy.class);
		release(holder);
		await().until(() -> third.grants.size() == 1);
		Grant grant = third.grants.get(0);
		assertThat(grant.key()).isEqualTo(this.key);
		assertThat(grant.token()).isEqualTo(waitsFirst);
		assertThat(grant.fence()).isGreaterThan(seen);
		assertThat(grant.othersWait()).isTrue();
		assertThat(remainingMillis(this.key)).isBetween(1L, 5000L);
		assertThat(renew(waitsFirst, LONG)).as("it owns the lock").containsExactly(RenewAnswer.RENEWED);
		release(waitsFirst);
		await().until(() -> second.grants.size() == 1);
		assertThat(second.grants.get(0).othersWait()).isFalse();
		assertThat(second.grants.get(0).fence()).isGreaterThan(grant.fence());
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(700);
		release(waitsSecond);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@Test
	void lookAgainAfterAnUnnoticedGrantFindsTheLockOwned() {
		openInbox(instance('2'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		look(waiter, Look.FIRST);
		release(holder);
		assertThat(look(waiter, Look.AGAIN)).isInstanceOf(Acquired.class);
		assertThat(remainingMillis(this.key)).as("the full ttl").isGreaterThan(LONG.toMillis() - 5000);
	}

	@Test
	void waiterThatFindsTheLockFreeLeavesTheQueue() {
		RecordingListener listener = openInbox(instance('2'));
		acquire(token(), BRIEF);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		look(waiter, Look.FIRST);
		await().until(() -> look(waiter, Look.AGAIN) instanceof Acquired);
		release(waiter);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(listener.grants).isEmpty();
		assertThat(leftovers()).isZero();
	}

	@Test
	void waiterThatLeftIsNotGrantedTheLock() {
		RecordingListener listener = openInbox(instance('2'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		look(waiter, Look.FIRST);
		assertThat(release(waiter)).isInstanceOf(NotOwner.class);
		release(holder);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(listener.grants).isEmpty();
	}

	@Test
	void f23WaiterThatCannotBeToldIsSkipped() {
		RecordingListener listener = openInbox(instance('3'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		look(new OwnerToken(instance('2'), 1, 1000), Look.FIRST);
		OwnerToken alive = new OwnerToken(instance('3'), 1, 1000);
		look(alive, Look.FIRST);
		release(holder);
		await().until(() -> listener.grants.size() == 1);
		assertThat(listener.grants.get(0).token()).isEqualTo(alive);
		assertThat(listener.grants.get(0).othersWait()).isFalse();
	}

	@Test
	void lockIsFreeWhenNoWaiterCanBeTold() {
		OwnerToken holder = token();
		acquire(holder, LONG);
		for (int i = 0; i < 5; i++) {
			look(new OwnerToken(instance('2'), i, 1000), Look.FIRST);
		}
		release(holder);
		assertThat(remainingMillis(this.key)).isNotPositive();
		assertThat(leftovers()).isZero();
	}

	@Test
	void ownerIsToldAtEachLookThatItsLockIsWanted() {
		RecordingListener listener = openInbox(instance('1'));
		OwnerToken holder = new OwnerToken(instance('1'), 1, 1000);
		acquire(holder, LONG);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		look(waiter, Look.FIRST);
		look(waiter, Look.AGAIN);
		await().until(() -> listener.wanted.size() == 2);
		assertThat(listener.wanted).containsOnly(new Wanted(this.key, holder));
	}

	@Test
	void attemptThatDoesNotWaitLeavesNothingBehindAndTellsNobody() {
		RecordingListener listener = openInbox(instance('1'));
		OwnerToken holder = new OwnerToken(instance('1'), 1, 1000);
		acquire(holder, LONG);
		acquire(new OwnerToken(instance('2'), 1, 1000), LONG);
		release(holder);
		assertThat(leftovers()).isZero();
		assertThat(listener.wanted).isEmpty();
	}

	@Test
	void keptLockIsNotHandedOver() {
		RecordingListener listener = openInbox(instance('2'));
		OwnerToken holder = token();
		acquire(holder, LONG);
		OwnerToken waiter = new OwnerToken(instance('2'), 1, 1000);
		look(waiter, Look.FIRST);
		this.store.release(new ReleaseQuestion(this.key, holder, LONG, 0, BRIEF), TIMEOUT);
		assertThat(look(waiter, Look.AGAIN)).isInstanceOf(Busy.class);
		assertThat(listener.wanted).isEmpty();
		await().until(() -> look(waiter, Look.AGAIN) instanceof Acquired);
	}

	@Test
	void messageToItselfEndsADoubt() {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance('1'), listener);
		assertThat(inbox.isConfirmed()).as("not yet opened").isFalse();
		inbox.open();
		await().until(inbox::isConfirmed);
		await().until(() -> listener.opened.get() == 1);
		inbox.doubt();
		await().until(inbox::isConfirmed);
		await().until(() -> listener.opened.get() == 2);
	}

	@Test
	void closedInboxReceivesNothingAndMayBeOpenedAgain() {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance('2'), listener);
		inbox.open();
		await().until(inbox::isConfirmed);
		inbox.close();
		assertThat(inbox.isConfirmed()).isFalse();
		OwnerToken holder = token();
		acquire(holder, LONG);
		look(new OwnerToken(instance('2'), 1, 1000), Look.FIRST);
		release(holder);
		assertThat(remainingMillis(this.key)).isNotPositive();
		inbox.open();
		await().until(inbox::isConfirmed);
		OwnerToken next = token();
		acquire(next, LONG);
		look(new OwnerToken(instance('2'), 2, 1000), Look.FIRST);
		release(next);
		await().until(() -> listener.grants.size() == 1);
	}

	@Test
	void counterRaisedUnderTheLockByManyThreadsIsExact() throws Exception {
		int[] counter = new int[1];
		List<Callable<Void>> threads = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			threads.add(() -> {
				for (int round = 0; round < 50; round++) {
					OwnerToken token = token();
					while (!(acquire(token, LONG) instanceof Acquired)) {
						Thread.onSpinWait();
					}
					int seen = counter[0];
					Thread.yield();
					counter[0] = seen + 1;
					release(token);
				}
				return null;
			});
		}
		runAtOnce(threads);
		assertThat(counter[0]).isEqualTo(200);
		assertThat(leftovers()).isZero();
	}

	protected final AcquireAnswer acquire(OwnerToken token, Duration ttl) {
		return this.store.acquire(new AcquireQuestion(this.key, token, ttl, Look.ONCE), TIMEOUT);
	}

	protected final AcquireAnswer look(OwnerToken token, Look look) {
		return this.store.acquire(new AcquireQuestion(this.key, token, LONG, look), TIMEOUT);
	}

	protected final ReleaseAnswer release(OwnerToken token) {
		return this.store.release(new ReleaseQuestion(this.key, token), TIMEOUT);
	}

	protected final List<RenewAnswer> renew(OwnerToken token, Duration ttl) {
		return this.store.renew(List.of(new RenewQuestion(this.key, token, ttl)), TIMEOUT);
	}

	protected static long fence(AcquireAnswer answer) {
		return ((Acquired) answer).fence();
	}

	protected final RecordingListener openInbox(String instance) {
		RecordingListener listener = new RecordingListener();
		Inbox inbox = inbox(instance, listener);
		inbox.open();
		await().until(inbox::isConfirmed);
		return listener;
	}

	protected final Inbox inbox(String instance, RecordingListener listener) {
		Inbox inbox = this.store.inbox(instance, listener).orElseThrow();
		this.inboxes.add(inbox);
		return inbox;
	}

	protected static OwnerToken token() {
		return new OwnerToken(instance('0'), SEQUENCE.incrementAndGet(), 1000);
	}

	protected static String instance(char name) {
		return RUN + name;
	}

	// so that two runs on one server do not read each other's messages
	private static final String RUN = "test-%016x".formatted(ThreadLocalRandom.current().nextLong());

	protected static <T> List<T> runAtOnce(List<Callable<T>> tasks) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(tasks.size());
		ExecutorService executor = Executors.newFixedThreadPool(tasks.size());
		try {
			List<Future<T>> futures = new ArrayList<>();
			for (Callable<T> task : tasks) {
				futures.add(executor.submit(() -> {
					barrier.await();
					return task.call();
				}));
			}
			List<T> results = new ArrayList<>();
			for (Future<T> future : futures) {
				results.add(future.get());
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

}
