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
import io.github.lockspring.store.ReleaseAnswer.NotOwner;
import io.github.lockspring.store.ReleaseAnswer.Released;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What every store has to do.
 */
public abstract class AbstractLockStoreTests {

	protected static final Duration TIMEOUT = Duration.ofSeconds(5);

	protected static final Duration LONG = Duration.ofSeconds(30);

	protected static final Duration BRIEF = Duration.ofMillis(150);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	protected final String key = "key " + SEQUENCE.incrementAndGet();

	protected LockStore store;

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
		assertThat(fence(acquire(token(), LONG))).isGreaterThan(raised);
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

	protected final ReleaseAnswer release(OwnerToken token) {
		return this.store.release(new ReleaseQuestion(this.key, token), TIMEOUT);
	}

	protected final List<RenewAnswer> renew(OwnerToken token, Duration ttl) {
		return this.store.renew(List.of(new RenewQuestion(this.key, token, ttl)), TIMEOUT);
	}

	protected static long fence(AcquireAnswer answer) {
		return ((Acquired) answer).fence();
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
