package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult.NotOwner;
import io.github.lockspring.store.LockStore.ReleaseResult.Released;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import io.github.lockspring.store.StoredLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of {@link LockStore}, on which the engine relies. Extend this class to
 * test a store of your own; a store with a queue of waiters extends
 * {@link AbstractQueueingLockStoreTests} instead. The tests need lock-core, JUnit
 * Jupiter, AssertJ and Awaitility on the class path, and nothing else.
 *
 * <pre class="code">
 * class AcmeLockStoreTests extends AbstractLockStoreTests {
 *
 *     private final AcmeServer server = AcmeServer.shared();
 *
 *     &#64;Override
 *     protected LockStore createStore() {
 *         return new AcmeLockStore(this.server.address());
 *     }
 *
 *     &#64;Override
 *     protected void loseEverything() {
 *         this.server.deleteAll();
 *     }
 *
 *     &#64;Override
 *     protected int leftovers() {
 *         return this.server.count("locks/*");
 *     }
 *
 * }</pre>
 *
 * Each test uses a store of its own, keys that no other test of this JVM uses, and owner
 * tokens that no other JVM uses. Tests run for leases of 500 ms and of 30 s; the store's
 * clock may differ from this JVM's, but must run as fast. The methods that subclasses
 * implement are called by the thread of the test, some of them also repeatedly.
 *
 * @since 0.1
 */
public abstract class AbstractLockStoreTests {

	/** The timeout of each request. */
	protected static final Duration TIMEOUT = Duration.ofSeconds(20);

	/** A lease that does not end during a test. */
	protected static final Duration LONG = Duration.ofSeconds(30);

	/** A lease that ends during a test. */
	protected static final Duration BRIEF = Duration.ofMillis(500);

	/** A store may count leases in seconds, and round them up. */
	private static final Duration ROUNDING = Duration.ofSeconds(1);

	private static final AtomicLong SEQUENCE = new AtomicLong();

	private static final AtomicLong INSTANCES = new AtomicLong();

	/** The key of this test. */
	protected final String key = "key " + SEQUENCE.incrementAndGet();

	// A message of an earlier test, or of another run on this server, may arrive late
	private final String run = "test-%016x".formatted(ThreadLocalRandom.current().nextLong());

	/** The store of this test; closed after the test. */
	protected LockStore store;

	/** The store of this test, with blocking methods. */
	protected JoinedStore joined;

	/**
	 * Creates the store under test. Called once before each test, also if a test loses
	 * all data.
	 * @return a usable store, which this class closes; it may share a server, but not
	 * locks of the same keys, with other stores
	 */
	protected abstract LockStore createStore();

	/**
	 * Makes all locks end as if the server had lost its data: locks, queues, and all
	 * fencing tokens that the server remembers. The store stays usable.
	 */
	protected abstract void loseEverything();

	/**
	 * Counts what is stored for locks and waiters at this moment, except for fencing
	 * tokens that expire by themselves. After all locks were released, the contract
	 * requires 0.
	 * @return the number of keys, rows or nodes; 0 if the store cannot be inspected
	 */
	protected abstract int leftovers();

	/**
	 * Returns how long a lock is still taken. Asks the store for the lock with another
	 * token, and releases it if it was free. Override it if the lease can be read without
	 * that.
	 * @param key a key as users write it
	 * @return milliseconds; 0 or less if the lock is free
	 */
	protected long remainingMillis(String key) {
		OwnerToken other = token();
		AcquireResult result = this.joined.acquire(new AcquireRequest(key, other, BRIEF, false), TIMEOUT);
		if (result instanceof Busy busy) {
			return busy.remainingMillis();
		}
		this.joined.release(new ReleaseRequest(key, other), TIMEOUT);
		return 0;
	}

	/**
	 * Returns by how much the fencing tokens of one ownership may be raised outside the
	 * store at least. The engine raises them by 1,000 at most.
	 * @return 60 seconds in microseconds, for stores whose tokens come from a clock that
	 * may be behind
	 */
	protected long tokensOfAnOwnership() {
		return 60_000_000_000L;
	}

	@BeforeEach
	void setUp() {
		this.store = createStore();
		this.joined = new JoinedStore(this.store);
	}

	@AfterEach
	void tearDown() {
		this.store.close();
	}

	/** Returns the longest lease that is granted before the first renewal. */
	protected Duration longestFirstLease() {
		return Duration.ofDays(1000);
	}

	@Test
	void leaseIsTheRequestedOneWithinTheTraits() {
		StoreTraits traits = this.store.traits();
		Duration shortest = traits.shortestTtl().compareTo(BRIEF) > 0 ? traits.shortestTtl() : BRIEF;
		AcquireRequest request = new AcquireRequest(this.key, token(), shortest.plusMillis(1), false);
		Duration least = this.store.lease(request.ttl());
		Acquired acquired = (Acquired) this.joined.acquire(request, TIMEOUT);
		assertThat(acquired.lease(request)).isBetween(least, traits.lease(request.ttl()).plus(ROUNDING));
		this.joined.release(new ReleaseRequest(this.key, request.token()), TIMEOUT);
		AcquireRequest longer = new AcquireRequest(this.key, token(), LONG.multipliedBy(1000), false);
		Duration most = Collections.min(List.of(traits.lease(longer.ttl()), longestFirstLease()));
		Duration leastOfLonger = Collections.min(List.of(this.store.lease(longer.ttl()), most));
		assertThat(((Acquired) this.joined.acquire(longer, TIMEOUT)).lease(longer)).isBetween(leastOfLonger,
				most.plus(ROUNDING));
	}

	@Test
	void takenLockIsBusyAndSaysForHowLongAndWhichFencingTokenWasSeen() {
		long fencingToken = fencingToken(acquire(token(), LONG));
		Busy busy = (Busy) acquire(token(), LONG);
		assertThat(busy.remainingMillis()).isBetween(LONG.toMillis() - 5000, LONG.toMillis());
		assertThat(busy.lastFencingToken()).isGreaterThanOrEqualTo(fencingToken);
	}

	@Test
	void f20AcquiringAgainWithTheSameTokenSucceeds() {
		OwnerToken token = token();
		long first = fencingToken(acquire(token, LONG));
		assertThat(fencingToken(acquire(token, LONG))).isGreaterThanOrEqualTo(first);
	}

	@Test
	@Tag("h07")
	void acquiringAgainNeverShortensTheLease() {
		OwnerToken token = holder();
		acquire(token, BRIEF);
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis() - 5000);
		acquire(token, LONG.multipliedBy(2));
		assertThat(remainingMillis(this.key)).isGreaterThan(LONG.toMillis() - (showsFirstTtl() ? 5000 : 0));
	}

	/** Returns whether others are shown the ttl of a token's first attempt. */
	protected boolean showsFirstTtl() {
		return false;
	}

	@Test
	void releasedLockIsFree() {
		OwnerToken token = holder();
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
		// owners take turns as fast as they can, each repeats its releases late
		int[] counter = new int[1];
		List<Callable<Void>> owners = Collections.nCopies(3, () -> {
			for (int round = 0; round < 60; round++) {
				OwnerToken token = token();
				while (!(acquire(token, LONG) instanceof Acquired)) {
					Thread.onSpinWait();
				}
				int seen = counter[0];
				Thread.yield();
				counter[0] = seen + 1;
				release(token);
				assertThat(release(token)).isInstanceOf(NotOwner.class);
			}
			return null;
		});
		runAtOnce(owners);
		assertThat(counter[0]).isEqualTo(180);
		assertThat(leftovers()).isZero();
	}

	@Test
	void f06RenewalDoesNotLengthenTheLockOfAnother() {
		acquire(token(), BRIEF);
		assertThat(renew(token(), LONG)).containsExactly(RenewResult.NOT_OWNER);
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(BRIEF.toMillis());
	}

	@Test
	void f16OfManyRacingForOneExpiryExactlyOneWins() throws Exception {
		acquire(token(), BRIEF);
		// each tries once more when another one has won
		AtomicBoolean taken = new AtomicBoolean();
		Callable<Boolean> racer = () -> {
			OwnerToken token = token();
			boolean won;
			boolean last;
			do {
				last = taken.get();
				won = acquire(token, LONG) instanceof Acquired;
				taken.compareAndSet(false, won);
			}
			while (!won && !last);
			return won;
		};
		assertThat(runAtOnce(Collections.nCopies(8, racer))).containsOnlyOnce(true);
	}

	@Test
	void f19ReleaseAndRenewalByAStrangerChangeNothing() {
		OwnerToken owner = token();
		long fencingToken = fencingToken(acquire(owner, LONG));
		OwnerToken stranger = token();
		assertThat(release(stranger)).isEqualTo(new NotOwner(fencingToken));
		assertThat(renew(stranger, LONG)).containsExactly(RenewResult.NOT_OWNER);
		assertThat(renew(owner, LONG)).containsExactly(RenewResult.RENEWED);
	}

	@Test
	@Tag("fixed-ttl-jdbc-etcd")
	void expiredLockIsFreeAndItsOwnerCannotRenewIt() {
		OwnerToken first = token();
		acquire(first, BRIEF);
		await().until(() -> remainingMillis(this.key) <= 0);
		assertThat(renew(first, LONG)).containsExactly(RenewResult.NOT_OWNER);
		assertThat(acquire(token(), LONG)).isInstanceOf(Acquired.class);
	}

	@Test
	void fencingTokensOfSuccessiveHoldersGrow() {
		long last = 0;
		for (int i = 0; i < 20; i++) {
			OwnerToken token = token();
			long fencingToken = fencingToken(acquire(token, LONG));
			assertThat(fencingToken).isGreaterThan(last).isLessThan(1L << 53);
			last = fencingToken;
			release(token);
		}
	}

	@Test
	@Tag("lost-data-jdbc")
	@Tag("lost-data-zookeeper-etcd")
	@Tag("tokens-grow")
	void f10FencingTokensGrowAlsoAfterTheStoreLostItsData() {
		OwnerToken first = token();
		long before = fencingToken(acquire(first, LONG));
		loseEverything();
		assertThat(renew(first, LONG)).containsExactly(RenewResult.NOT_OWNER);
		assertThat(fencingToken(acquire(token(), LONG))).isGreaterThan(before);
	}

	@Test
	@Tag("h37")
	void fencingTokenRaisedOutsideTheStoreIsRememberedByTheRelease() {
		OwnerToken first = token();
		long raised = fencingToken(acquire(first, LONG)) + tokensOfAnOwnership();
		this.joined.release(new ReleaseRequest(this.key, first, raised, Duration.ZERO), TIMEOUT);
		assertThat(fencingToken(acquire(token(), LONG))).isGreaterThan(raised);
	}

	@Test
	void smallerFencingTokenOfAReleaseIsIgnored() {
		OwnerToken first = token();
		long fencingToken = fencingToken(acquire(first, LONG));
		this.joined.release(new ReleaseRequest(this.key, first, 1, Duration.ZERO), TIMEOUT);
		assertThat(fencingToken(acquire(token(), LONG))).isGreaterThan(fencingToken);
	}

	@Test
	void keptLockHasNoOwner() {
		OwnerToken first = token();
		acquire(first, LONG.multipliedBy(2));
		ReleaseRequest keep = new ReleaseRequest(this.key, first, 0, LONG);
		assertThat(this.joined.release(keep, TIMEOUT)).isEqualTo(new Released());
		assertThat(this.joined.release(keep, TIMEOUT)).as("repeated").isEqualTo(new Released());
		assertThat(remainingMillis(this.key)).isLessThanOrEqualTo(LONG.toMillis());
		assertThat(acquire(token(), LONG)).isInstanceOf(Busy.class);
		assertThat(renew(first, LONG)).containsExactly(RenewResult.NOT_OWNER);
		assertThat(acquire(first, LONG)).as("the old token has ended").isInstanceOf(Busy.class);
	}

	@Test
	void inspectorFindsTheOwnerAndItsLease() {
		LockStoreInspector inspector = inspector();
		assertThat(inspector.find(this.key, TIMEOUT)).isEmpty();
		OwnerToken owner = token();
		long fencingToken = fencingToken(acquire(owner, LONG));
		StoredLock lock = inspector.find(this.key, TIMEOUT).orElseThrow();
		assertThat(lock.key()).isEqualTo(this.key);
		assertThat(lock.instance()).contains(owner.instance());
		assertThat(lock.isKept()).isFalse();
		assertThat(lock.remaining()).isBetween(LONG.dividedBy(2), LONG.plusSeconds(1));
		assertThat(lock.age()).isBetween(Duration.ZERO, LONG);
		assertThat(lock.fencingToken()).isGreaterThanOrEqualTo(fencingToken);
		assertThat(lock.waiting()).isZero();
		release(owner);
		assertThat(inspector.find(this.key, TIMEOUT)).isEmpty();
	}

	@Test
	@Tag("session-etcd")
	void forcedReleaseFreesTheLockAndItsOwnerLearnsOfIt() {
		OwnerToken owner = token();
		long fencingToken = ownedAndReleasedByForce(owner);
		assertThat(renew(owner, LONG)).containsExactly(RenewResult.NOT_OWNER);
		NotOwner late = (NotOwner) release(owner);
		// a row or a key that is gone cannot say it, and then the next owner's token does
		assertThat(late.fencingToken()).satisfiesAnyOf((token) -> assertThat(token).isZero(),
				(token) -> assertThat(token).isGreaterThan(fencingToken));
		assertThat(fencingToken(acquire(token(), LONG))).isGreaterThan(fencingToken).isGreaterThan(late.fencingToken());
	}

	/** Nobody holds the lock any more when its former owner comes to release it. */
	@Test
	@Tag("forced-release")
	void ownerLearnsOfASuccessorThatHasReleasedTheLock() {
		OwnerToken owner = token();
		long fencingToken = ownedAndReleasedByForce(owner);
		release(holder());
		assertThat(((NotOwner) release(owner)).fencingToken()).isGreaterThan(fencingToken);
	}

	@Test
	@Tag("forced-release")
	void forcedReleaseOfAnOwnershipThatHasEndedChangesNothing() {
		LockStoreInspector inspector = inspector();
		OwnerToken first = holder();
		StoredLock seen = inspector.find(this.key, TIMEOUT).orElseThrow();
		release(first);
		assertThat(inspector.forceRelease(seen, TIMEOUT)).isFalse();
		OwnerToken second = holder();
		assertThat(inspector.forceRelease(seen, TIMEOUT)).isFalse();
		assertThat(renew(second, LONG)).containsExactly(RenewResult.RENEWED);
	}

	@Test
	void forcedReleaseEndsALockThatIsKept() {
		LockStoreInspector inspector = inspector();
		OwnerToken owner = holder();
		this.joined.release(new ReleaseRequest(this.key, owner, 0, LONG), TIMEOUT);
		StoredLock kept = inspector.find(this.key, TIMEOUT).orElseThrow();
		assertThat(kept.isKept()).isTrue();
		assertThat(kept.instance()).contains(owner.instance());
		assertThat(inspector.forceRelease(kept, TIMEOUT)).isTrue();
		assertThat(acquire(token(), LONG)).isInstanceOf(Acquired.class);
	}

	/** Returns the fencing token of the ownership. */
	private long ownedAndReleasedByForce(OwnerToken owner) {
		LockStoreInspector inspector = inspector();
		long fencingToken = fencingToken(acquire(owner, LONG));
		assertThat(inspector.forceRelease(inspector.find(this.key, TIMEOUT).orElseThrow(), TIMEOUT)).isTrue();
		return fencingToken;
	}

	private LockStoreInspector inspector() {
		assumeThat(this.store.inspector()).as("the store has an inspector").isPresent();
		return this.store.inspector().orElseThrow();
	}

	@Test
	void renewalReturnsAResultForEachRequestInOrder() {
		OwnerToken mine = token();
		OwnerToken alsoMine = token();
		this.joined.acquire(new AcquireRequest(this.key + "a", mine, BRIEF.multipliedBy(40), false), TIMEOUT);
		this.joined.acquire(new AcquireRequest(this.key + "b", token(), BRIEF.multipliedBy(40), false), TIMEOUT);
		this.joined.acquire(new AcquireRequest(this.key + "c", alsoMine, LONG.multipliedBy(2), false), TIMEOUT);
		List<RenewRequest> requests = List.of(new RenewRequest(this.key + "a", mine, LONG),
				new RenewRequest(this.key + "b", mine, LONG), new RenewRequest(this.key + "c", alsoMine, BRIEF),
				new RenewRequest(this.key + "nobody's", mine, LONG));
		assertThat(this.joined.renew(requests, TIMEOUT)).containsExactly(RenewResult.RENEWED, RenewResult.NOT_OWNER,
				RenewResult.RENEWED, RenewResult.NOT_OWNER);
		assertThat(remainingMillis(this.key + "a")).isGreaterThan(LONG.toMillis() - 5000);
		assertThat(remainingMillis(this.key + "b")).isLessThanOrEqualTo(BRIEF.toMillis() * 40);
		assertThat(remainingMillis(this.key + "c")).as("never shortened").isGreaterThan(LONG.toMillis());
		assertThat(remainingMillis(this.key + "nobody's")).isNotPositive();
		assertThat(this.joined.renew(List.of(), TIMEOUT)).isEmpty();
	}

	/** Acquires the lock of this test without waiting for it. */
	protected final AcquireResult acquire(OwnerToken token, Duration ttl) {
		return this.joined.acquire(new AcquireRequest(this.key, token, ttl, false), TIMEOUT);
	}

	/** Acquires the lock of this test for {@link #LONG}. */
	protected final OwnerToken holder() {
		OwnerToken holder = token();
		assertThat(acquire(holder, LONG)).isInstanceOf(Acquired.class);
		return holder;
	}

	/** Releases the lock of this test. */
	protected final ReleaseResult release(OwnerToken token) {
		return this.joined.release(new ReleaseRequest(this.key, token), TIMEOUT);
	}

	/** Renews the lock of this test. */
	protected final List<RenewResult> renew(OwnerToken token, Duration ttl) {
		return this.joined.renew(List.of(new RenewRequest(this.key, token, ttl)), TIMEOUT);
	}

	/** Returns the fencing token of a result, which must be {@link Acquired}. */
	protected static long fencingToken(AcquireResult answer) {
		return ((Acquired) answer).fencingToken();
	}

	/** Creates an owner token of another instance each time, which has no inbox. */
	protected final OwnerToken token() {
		String instance = "%s%06d".formatted(this.run.substring(5), INSTANCES.incrementAndGet() % 1_000_000);
		return new OwnerToken(instance,
				SEQUENCE.accumulateAndGet(TimeUnit.MILLISECONDS.toMicros(System.currentTimeMillis()),
						(last, now) -> Math.max(last + 1, now)),
				1000);
	}

	/** Returns the name of an instance, which differs in each test. */
	protected final String instance(char name) {
		return this.run + name;
	}

	/** Runs tasks at the same time, and returns their results in the same order. */
	protected static <T> List<T> runAtOnce(List<Callable<T>> tasks) throws Exception {
		CyclicBarrier barrier = new CyclicBarrier(tasks.size());
		ExecutorService executor = Executors.newFixedThreadPool(tasks.size());
		try {
			List<T> results = new ArrayList<>();
			for (Future<T> future : executor.invokeAll(tasks.stream().map((task) -> (Callable<T>) () -> {
				barrier.await();
				return task.call();
			}).toList())) {
				results.add(future.get());
			}
			return results;
		}
		finally {
			executor.shutdownNow();
		}
	}

}
