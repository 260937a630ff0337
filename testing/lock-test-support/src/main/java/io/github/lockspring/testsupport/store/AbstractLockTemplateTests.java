package io.github.lockspring.testsupport.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockException;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.base.MonotonicClock;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.store.ControlledStore.Gate;
import io.github.lockspring.testsupport.store.ControlledStore.Kind;
import io.github.lockspring.testsupport.store.ControlledStore.Sent;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract of {@link io.github.lockspring.LockTemplate} with several instances over
 * one store, even when replies and messages are late or missing. Independent of the
 * internals of the engine. Extend this class to run it over a store.
 * <p>
 * If something must happen <em>immediately</em> rather than a second later, the fastest
 * of five rounds counts, since one of them is fast even on a busy machine. Each round has
 * its own instance, which has not missed a message yet.
 *
 * @since 0.1
 */
public abstract class AbstractLockTemplateTests {

	/** A lease that does not end during a test. */
	private static final Duration LONG = Duration.ofSeconds(30);

	/** Longer than any machine pauses. */
	private static final Duration PATIENCE = Duration.ofMinutes(1);

	/** Half of the time after which an attempt is repeated without a message. */
	private static final Duration AT_ONCE = Duration.ofMillis(500);

	private static final int ROUNDS = 5;

	private static final AtomicLong SEQUENCE = new AtomicLong();

	/** The key of this test, which no other test of this JVM uses. */
	protected final String key = "contract " + SEQUENCE.incrementAndGet();

	private final List<Instance> instances = new ArrayList<>();

	private final List<Thread> threads = new ArrayList<>();

	private final AtomicLong suspended = new AtomicLong();

	/**
	 * Creates a store with connections of its own, on the server that all stores of a
	 * test share. Called once for each instance. Its clock, if it has one, is
	 * {@link #now}.
	 * @return a usable store, which this class closes
	 */
	protected abstract LockStore createStore();

	/**
	 * Counts what is stored for locks and waiters at this moment, except for fencing
	 * tokens that expire by themselves.
	 * @return the number of keys, rows or nodes
	 */
	protected abstract int leftovers();

	/** Returns the time of the instances and their stores, in nanoseconds. */
	protected final long now() {
		return MonotonicClock.SYSTEM.getAsLong() + this.suspended.get();
	}

	@AfterEach
	void close() throws InterruptedException {
		this.instances.forEach((instance) -> instance.store().openAll());
		for (Thread thread : this.threads) {
			thread.interrupt();
			thread.join(PATIENCE.toMillis());
		}
		this.instances.forEach(Instance::close);
	}

	// giving up

	@Test
	void waiterThatGivesUpLeavesNoPlaceInTheQueue() {
		HeldLock held = informed().locks().acquire(request());
		Instance leaving = queueing();
		Instance next = queueing();
		assertThat(leaving.locks().tryAcquire(request().waitTime(Duration.ofMillis(200)))).isEmpty();
		assertWithdrawn(leaving);
		Caller waiter = waiting(next);
		held.close();
		waiter.get().close();
		assertThat(leaving.store().sent(Kind.GRANTED, this.key)).isEmpty();
		assertNothingLeft();
	}

	/**
	 * Otherwise it may still be handed the lock, and a caller that does not wait is
	 * turned away although nobody holds it.
	 */
	@Test // defect 39
	void waiterThatIsToldThatTheLockIsBusyHasLeftTheQueue() {
		Instance holder = informed();
		Instance leaving = queueing();
		for (int i = 0; i < ROUNDS; i++) {
			HeldLock held = holder.locks().acquire(request());
			assertThat(leaving.locks().tryAcquire(request().waitTime(Duration.ofMillis(200)))).isEmpty();
			assertThat(tokens(leaving.store().answered(Kind.RELEASE, this.key)))
				.containsAll(tokens(leaving.store().sent(Kind.ACQUIRE, this.key)));
			held.close();
			holder.locks().tryAcquire(request().waitTime(Duration.ZERO)).orElseThrow().close();
		}
		assertNothingLeft();
	}

	@Test
	void lastWaiterThatLeavesTakesItsTokenAlong() {
		Instance holder = informed();
		HeldLock held = holder.locks().acquire(request());
		Instance leaving = queueing();
		Caller first = waiting(leaving);
		Caller last = waiting(leaving);
		leave(first);
		leave(last);
		assertWithdrawn(leaving);
		held.close();
		assertThat(leaving.store().sent(Kind.GRANTED, this.key)).isEmpty();
		// an attempt under way may bring the token back, for less time than a grant lasts
		holder.locks().tryAcquire(request().waitTime(Duration.ofSeconds(2))).orElseThrow().close();
		assertNothingLeft();
	}

	@Test
	void nextWaiterGoesOnWhenTheFirstLeaves() {
		HeldLock held = informed().locks().acquire(request());
		Instance instance = informed();
		instance.store().hold(Kind.GRANTED);
		Caller first = waiting(instance);
		Caller next = waiting(instance, request().waitTime(Duration.ofSeconds(15)));
		leave(first);
		held.close();
		next.get().close();
		assertNothingLeft();
	}

	/** Also if it got the lock without knowing it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void attemptOfAnInterruptedWaiterIsWithdrawn(boolean busy) {
		Instance holder = informed();
		Optional<HeldLock> held = busy ? holder.locks().tryAcquire(request()) : Optional.empty();
		Instance instance = informed();
		Gate answers = instance.store().holdAnswers(Kind.ACQUIRE);
		Caller waiter = acquiring(instance);
		patiently().until(() -> answers.arrivals() > 0);
		leave(waiter);
		answers.open();
		assertWithdrawn(instance);
		held.ifPresent(HeldLock::close);
		// an attempt that is carried out after its release is released once more
		holder.locks().tryAcquire(request().waitTime(Duration.ofSeconds(2))).orElseThrow().close();
		assertNothingLeft();
	}

	@Test
	void waiterThatGivesUpIsToldTheHolder() {
		Instance holder = informed("billing");
		HeldLock held = holder.locks().acquire(request());
		Instance waiting = informed();
		String expected = namesInstances(holder) ? "billing" : "holder";
		patiently().untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
			.isThrownBy(() -> waiting.locks().acquire(request().waitTime(Duration.ofMillis(50))))
			.withMessageContaining(expected));
		held.close();
	}

	/** Not every store keeps the descriptions of instances. */
	private static boolean namesInstances(Instance instance) {
		return instance.store().inspector().filter((inspector) -> {
			Duration timeout = Duration.ofSeconds(5);
			String somebody = "somebody".repeat(3).substring(2);
			inspector.register(somebody, new InstanceInfo("", "localhost", 1), PATIENCE, timeout);
			return inspector.instances(List.of(somebody), timeout).containsKey(somebody);
		}).isPresent();
	}

	// messages

	@Test
	void messageDuringAnAttemptIsNotForgotten() {
		Instance holder = informed();
		assertAtOnce(() -> {
			Instance instance = queueing();
			HeldLock held = holder.locks().acquire(request());
			Gate answers = instance.store().holdAnswers(Kind.ACQUIRE);
			Caller waiter = acquiring(instance);
			patiently().until(() -> answers.arrivals() > 0);
			held.close();
			patiently().until(() -> !instance.store().sent(Kind.GRANTED, this.key).isEmpty());
			long start = System.nanoTime();
			answers.open();
			return waiter.closedAfter(start);
		});
		assertNothingLeft();
	}

	@Test
	void newSubscriptionWakesThoseWhoWait() {
		Instance holder = informed();
		assertAtOnce(() -> {
			Instance instance = queueing();
			HeldLock held = holder.locks().acquire(request());
			Gate lost = instance.store().hold(Kind.GRANTED);
			Caller waiter = waiting(instance);
			held.close();
			if (!isGranted(lost, waiter)) {
				waiter.get().close();
				return PATIENCE;
			}
			long start = System.nanoTime();
			instance.store().sayOpened();
			return waiter.closedAfter(start);
		});
		assertNothingLeft();
	}

	@Test
	void grantCountsFromTheAttemptNotFromItsMessage() {
		HeldLock held = informed().locks().acquire(request());
		Instance instance = queueing();
		instance.store().refuse(Kind.RENEW, Integer.MAX_VALUE);
		Gate late = instance.store().hold(Kind.GRANTED);
		Caller waiter = waiting(instance);
		held.close();
		if (isGranted(late, waiter)) {
			pass(Duration.ofMillis(400));
		}
		late.open();
		HeldLock granted = waiter.get();
		List<Sent> attempts = instance.store().sent(Kind.ACQUIRE, this.key);
		Sent last = attempts.get(attempts.size() - 1);
		// an instance that had to ask again has what it asked for
		Duration given = (attempts.size() > 1) ? LONG : Duration.ofMillis(last.token().grantMillis());
		assertThat(granted.remaining().plus(since(last.at()))).isLessThanOrEqualTo(given);
		granted.close();
		assertNothingLeft();
	}

	@Test
	void grantThatIsOverIsNotUsed() {
		Instance other = informed();
		HeldLock held = other.locks().acquire(request());
		Instance instance = queueing();
		Gate late = instance.store().hold(Kind.GRANTED);
		Caller waiter = waiting(instance, brief());
		Gate attempts = instance.store().hold(Kind.ACQUIRE);
		held.close();
		// when the grant is over
		HeldLock next = acquiring(other).get();
		attempts.open();
		// the one that was held back is too old for a grant to count from
		patiently().until(() -> instance.store().answered(Kind.ACQUIRE, this.key).size() > 2);
		late.open();
		long seen = next.fencingToken();
		next.close();
		HeldLock granted = waiter.get();
		assertThat(granted.fencingToken()).isGreaterThan(seen);
		granted.close();
		assertNothingLeft();
	}

	// leases

	/**
	 * The attempt was given up before the answer came, unless nobody noticed the time.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void acquisitionThatIsAnsweredAfterItsLeaseIsNotUsed(boolean noticed) {
		Instance instance = informed();
		Gate answers = instance.store().holdAnswers(Kind.ACQUIRE);
		Caller waiter = acquiring(instance, brief());
		patiently().until(() -> answers.arrivals() > 0);
		if (noticed) {
			pass(briefTtl());
		}
		else {
			this.suspended.addAndGet(briefTtl().toNanos());
		}
		answers.open();
		HeldLock held = waiter.get();
		assertThat(held.isHeld()).isTrue();
		assertThat(instance.store().sent(Kind.ACQUIRE, this.key)).hasSizeGreaterThan(1);
		held.close();
		assertNothingLeft();
	}

	/** The machine of the instance is suspended, and nobody else is. */
	@Test // defect 1
	void leaseThatASuspensionOutlivesIsLostAndNotHandedOff() {
		Instance instance = informed();
		HeldLock held = instance.locks().acquire(request());
		Caller next = waiting(instance);
		this.suspended.addAndGet(LONG.toNanos());
		assertLost(instance, held);
		HeldLock again = next.get();
		assertThat(again.isHeld()).isTrue();
		assertThat(again.fencingToken()).isGreaterThan(held.fencingToken());
		assertThat(tokens(instance.store().sent(Kind.ACQUIRE, this.key))).as("its own").hasSizeGreaterThan(1);
		again.close();
		assertNothingLeft();
	}

	@Test
	void renewalThatFailsIsRetriedBeforeTheLeaseIsOver() {
		Instance instance = informed();
		Gate refused = instance.store().refuse(Kind.RENEW, 2);
		HeldLock held = instance.locks().acquire(brief());
		pass(briefTtl().multipliedBy(5).dividedBy(4));
		assertThat(refused.arrivals()).isGreaterThan(2);
		assertThat(held.isHeld()).isTrue();
		held.close();
		assertNothingLeft();
	}

	@Test
	void renewalThatFailsUntilTheDeadlineLosesTheLock() {
		Instance instance = informed();
		Gate refused = instance.store().refuse(Kind.RENEW, Integer.MAX_VALUE);
		HeldLock held = instance.locks().acquire(brief());
		long start = System.nanoTime();
		Duration lease = held.remaining();
		patiently().until(() -> !held.isHeld());
		assertThat(since(start)).isGreaterThanOrEqualTo(lease);
		assertThat(refused.arrivals()).isPositive();
		assertLost(instance, held);
		assertNothingLeft();
	}

	@Test
	void leaseCountsFromItsRequestNotFromTheAnswer() {
		Instance instance = informed();
		Duration ttl = briefTtl().multipliedBy(2);
		Duration lease = instance.store().traits().lease(ttl);
		Duration late = lease.dividedBy(6);
		Gate acquired = instance.store().holdAnswers(Kind.ACQUIRE);
		Gate renewed = instance.store().holdAnswers(Kind.RENEW);
		Caller waiter = acquiring(instance, request().ttl(ttl));
		openAfter(late, acquired);
		HeldLock held = waiter.get();
		Duration before = held.remaining().plus(sinceLast(instance, Kind.ACQUIRE));
		assertThat(before).isLessThanOrEqualTo(lease);
		openAfter(late, renewed);
		patiently()
			.until(() -> held.remaining().plus(sinceLast(instance, Kind.ACQUIRE)).minus(late).compareTo(before) > 0);
		assertThat(held.remaining().plus(sinceLast(instance, Kind.RENEW))).isLessThanOrEqualTo(lease);
		held.close();
		assertNothingLeft();
	}

	private static void openAfter(Duration time, Gate answers) {
		patiently().until(() -> answers.arrivals() > 0);
		pass(time);
		answers.open();
	}

	private Duration sinceLast(Instance instance, Kind kind) {
		List<Sent> sent = instance.store().sent(kind, this.key);
		return since(sent.get(sent.size() - 1).at());
	}

	/** The answer comes before anybody notices that the lease is over. */
	@Test
	void lateRenewalDoesNotReviveALease() {
		Instance instance = informed();
		Gate answers = instance.store().holdAnswers(Kind.RENEW);
		HeldLock held = instance.locks().acquire(brief());
		patiently().until(() -> answers.arrivals() > 0);
		// to the end of the lease, not to that of the one that was requested
		this.suspended.addAndGet(held.remaining().plus(briefTtl().dividedBy(20)).toNanos());
		answers.open();
		patiently().until(() -> !instance.events(LockEvent.Lost.class).isEmpty()
				|| held.remaining().compareTo(Duration.ZERO) > 0);
		assertThat(held.remaining()).isZero();
		assertLost(instance, held);
		informed().locks().acquire(request()).close();
		assertNothingLeft();
	}

	@Test
	void holderAfterAnExtendedLeaseHasNoLongerOneThanItsTtl() {
		Instance instance = informed();
		HeldLock extended = instance.locks().acquire(request());
		Caller next = waiting(instance);
		extended.extend(LONG.multipliedBy(3));
		extended.close();
		HeldLock held = next.get();
		assertThat(held.remaining()).isLessThan(LONG.multipliedBy(2));
		held.close();
		assertNothingLeft();
	}

	// turns

	@Test
	void otherInstancesGetTheirTurnWhileThreadsKeepAsking() {
		Instance busy = queueing();
		Instance other = queueing();
		AtomicInteger holds = new AtomicInteger();
		AtomicBoolean ended = new AtomicBoolean();
		for (int i = 0; i < 3; i++) {
			start(() -> {
				while (!ended.get()) {
					try (HeldLock held = busy.locks().acquire(request())) {
						held.ensureHeld();
						holds.incrementAndGet();
						pass(Duration.ofMillis(5));
					}
				}
				return null;
			});
		}
		patiently().until(() -> holds.get() > 10);
		int before = holds.get();
		HeldLock turn = other.locks().acquire(request());
		int overtaken = holds.get() - before;
		ended.set(true);
		turn.close();
		// one that is forgotten waits for a thousand holds
		assertThat(overtaken).isLessThan(500);
	}

	@Test
	void nobodyGetsTheLockBeforeItsMinHold() {
		Duration minHold = Duration.ofSeconds(1);
		Instance instance = informed();
		Instance other = informed();
		long start = System.nanoTime();
		HeldLock held = instance.locks().acquire(request().minHold(minHold));
		List<CompletableFuture<Duration>> waits = new ArrayList<>();
		for (Instance each : List.of(instance, other)) {
			waits.add(start(() -> {
				try (HeldLock next = each.locks().acquire(request())) {
					next.ensureHeld();
					return since(start);
				}
			}));
			patiently().until(() -> each.waiting(this.key) > 0);
		}
		held.close();
		for (CompletableFuture<Duration> wait : waits) {
			// the store's clock may count in milliseconds
			assertThat(join(wait)).isGreaterThan(minHold.minusMillis(20));
		}
		assertNothingLeft();
	}

	@Test
	void fencingTokensGrowWithEveryHolderLocalHandoffsIncluded() {
		Instance instance = informed();
		Instance other = informed();
		List<Long> tokens = new CopyOnWriteArrayList<>();
		HeldLock first = instance.locks().acquire(request());
		tokens.add(first.fencingToken());
		List<CompletableFuture<Object>> series = new ArrayList<>();
		for (int i = 0; i < 3; i++) {
			series.add(start(() -> {
				try (HeldLock next = instance.locks().acquire(request())) {
					tokens.add(next.fencingToken());
				}
				return null;
			}));
		}
		patiently().until(() -> instance.waiting(this.key) == 3);
		first.close();
		series.forEach(AbstractLockTemplateTests::join);
		List<Sent> releases = instance.store().answered(Kind.RELEASE, this.key);
		if (releases.size() == 1) {
			assertThat(releases.get(0).fencingToken()).as("what the store learns")
				.isEqualTo(tokens.get(tokens.size() - 1));
		}
		HeldLock last = other.locks().acquire(request());
		tokens.add(last.fencingToken());
		last.close();
		assertThat(tokens).hasSize(5).doesNotHaveDuplicates().isSorted();
		assertNothingLeft();
	}

	// the end

	@Test
	void stopReleasesWhatIsHeldAndWakesThoseWhoWait() {
		Instance stopping = informed();
		Instance other = informed();
		HeldLock held = stopping.locks().acquire(request());
		Caller waiter = waiting(stopping);
		LockRequest elsewhere = LockRequest.of(this.key + " elsewhere").ttl(LONG).waitTime(PATIENCE);
		HeldLock heldElsewhere = other.locks().acquire(elsewhere);
		Caller waiterForIt = acquiring(stopping, elsewhere);
		patiently().until(() -> stopping.waiting(this.key + " elsewhere") > 0);
		stopping.stop();
		assertThatExceptionOfType(LockException.class).isThrownBy(waiter::get);
		assertThatExceptionOfType(LockException.class).isThrownBy(waiterForIt::get);
		assertLost(stopping, held);
		other.locks().tryAcquire(request().waitTime(Duration.ZERO)).orElseThrow().close();
		heldElsewhere.close();
		assertNothingLeft();
	}

	// fixtures

	/** Waits patiently; the lease does not end during a test. */
	private LockRequest request() {
		return LockRequest.of(this.key).ttl(LONG).waitTime(PATIENCE);
	}

	/** The shortest lease that a busy machine can renew in time. */
	private Duration briefTtl() {
		Duration shortest = this.instances.get(0).store().traits().shortestTtl();
		Duration brief = Duration.ofMillis(1500);
		return (shortest.compareTo(brief) > 0) ? shortest : brief;
	}

	private LockRequest brief() {
		return request().ttl(briefTtl());
	}

	/** An instance that messages reach, if its store has any. */
	private Instance informed() {
		return informed("");
	}

	private Instance informed(String application) {
		Instance instance = Instance.over(createStore())
			.commandTimeout(Duration.ofSeconds(10))
			.shutdownTimeout(Duration.ofMillis(50))
			.application(application)
			.clock(this::now)
			.start();
		this.instances.add(instance);
		instance.openInbox();
		return instance;
	}

	/** As {@link #informed()}; the test is for stores with a queue. */
	private Instance queueing() {
		Instance instance = informed();
		assumeThat(instance.store().hasQueue()).as("a store with a queue").isTrue();
		return instance;
	}

	private Caller acquiring(Instance instance) {
		return acquiring(instance, request());
	}

	private Caller acquiring(Instance instance, LockRequest request) {
		CompletableFuture<HeldLock> result = start(() -> instance.locks().acquire(request));
		return new Caller(this.threads.get(this.threads.size() - 1), result);
	}

	private Caller waiting(Instance instance) {
		return waiting(instance, request());
	}

	/** Starts a caller that waits, and whose instance has been told that it has to. */
	private Caller waiting(Instance instance, LockRequest request) {
		int before = instance.waiting(this.key);
		int attempts = instance.store().answered(Kind.ACQUIRE, this.key).size();
		boolean first = !instance.uses(this.key);
		Caller caller = acquiring(instance, request);
		patiently().until(() -> instance.waiting(this.key) > before
				&& (!first || instance.store().answered(Kind.ACQUIRE, this.key).size() > attempts));
		return caller;
	}

	/**
	 * Waits for a grant that is held back.
	 * @return false if the store is not sure of its length, so that it tells the instance
	 * to make another attempt instead
	 */
	private static boolean isGranted(Gate grants, Caller waiter) {
		patiently().until(() -> grants.arrivals() > 0 || waiter.result().isDone());
		return grants.arrivals() > 0;
	}

	private <T> CompletableFuture<T> start(Callable<T> work) {
		CompletableFuture<T> result = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				result.complete(work.call());
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		}, "caller");
		thread.setDaemon(true);
		this.threads.add(thread);
		thread.start();
		return result;
	}

	private static <T> T join(CompletableFuture<T> result) {
		try {
			return result.orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS).join();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof RuntimeException failure) {
				throw failure;
			}
			throw ex;
		}
	}

	private static void leave(Caller caller) {
		caller.thread().interrupt();
		assertThatExceptionOfType(LockInterruptedException.class).isThrownBy(caller::get);
	}

	private static ConditionFactory patiently() {
		return await().atMost(PATIENCE).pollDelay(Duration.ZERO).pollInterval(Duration.ofMillis(2));
	}

	private static void pass(Duration time) {
		long start = System.nanoTime();
		await().atMost(time.plus(PATIENCE)).pollDelay(time).until(() -> since(start).compareTo(time) >= 0);
	}

	private static Duration since(long start) {
		return Duration.ofNanos(System.nanoTime() - start);
	}

	private static void assertAtOnce(Supplier<Duration> round) {
		Duration fastest = round.get();
		for (int i = 1; i < ROUNDS && fastest.compareTo(AT_ONCE) >= 0; i++) {
			Duration time = round.get();
			fastest = (time.compareTo(fastest) < 0) ? time : fastest;
		}
		assertThat(fastest).as("fastest of %s rounds", ROUNDS).isLessThan(AT_ONCE);
	}

	/** Every token that this instance has sent was released. */
	private void assertWithdrawn(Instance instance) {
		List<OwnerToken> tokens = tokens(instance.store().sent(Kind.ACQUIRE, this.key));
		patiently().atMost(Duration.ofSeconds(10))
			.untilAsserted(
					() -> assertThat(tokens(instance.store().answered(Kind.RELEASE, this.key))).containsAll(tokens));
	}

	private static List<OwnerToken> tokens(List<Sent> sent) {
		return sent.stream().map(Sent::token).toList();
	}

	private void assertLost(Instance instance, HeldLock held) {
		assertThat(held.isHeld()).isFalse();
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		patiently().untilAsserted(() -> assertThat(instance.events(LockEvent.Lost.class)).hasSize(1));
	}

	private void assertNothingLeft() {
		patiently().atMost(Duration.ofSeconds(10)).untilAsserted(() -> assertThat(leftovers()).isZero());
	}

	/**
	 * A caller that acquires the lock.
	 *
	 * @param thread its thread
	 * @param result the lock
	 */
	private record Caller(Thread thread, CompletableFuture<HeldLock> result) {

		HeldLock get() {
			return join(this.result);
		}

		/** Closes the lock, and returns how long the acquisition took. */
		Duration closedAfter(long start) {
			HeldLock held = get();
			Duration time = since(start);
			held.close();
			return time;
		}

	}

}
