package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.PlayedInstance.PlayedWaiter;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewRequest;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * A few instances and a store, on one thread: a seed decides what happens next. What is
 * on its way may arrive late, in another order, twice or not at all; clocks differ;
 * threads run late; instances crash and stop. Then everything works again, and every
 * waiter must get the lock or be told why not, and nothing may be left.
 */
final class PlayedWorld {

	static final LockUnavailableException NO_RESULT = new LockUnavailableException("no result");

	private static final int STEPS = 300;

	/** How long waiters may need once everything works: several leases and hand-overs. */
	private static final long MAX_CALM_NANOS = Duration.ofSeconds(120).toNanos();

	/** Tokens follow the server's clock: what raises one by 1 takes more than 1 µs. */
	private static final long EVENT_NANOS = 5_000;

	private static final long RESTART_NANOS = 1_000_000;

	private static final long PATIENCE = Duration.ofDays(1).toNanos();

	/** Something on its way. */
	private record Transit(String what, Runnable arrive, Runnable lost) {
	}

	/** A request without a result yet. */
	private static final class Call {

		private final Runnable timeout;

		private final long deadline;

		private boolean ended;

		Call(Runnable timeout, long deadline) {
			this.timeout = timeout;
			this.deadline = deadline;
		}

	}

	private final Random random;

	private final boolean tracing;

	private final PlayedFaults faults = new PlayedFaults();

	private final PlayedStore store = new PlayedStore(this, this.faults);

	private final PlayedPromises promises = new PlayedPromises(this.store, this.faults);

	private final List<PlayedInstance> instances = new ArrayList<>();

	private final List<Transit> transits = new ArrayList<>();

	private final List<Call> calls = new ArrayList<>();

	private final List<String> trace = new ArrayList<>();

	/** Tokens whose release is on its way. */
	private final List<OwnerToken> leaving = new ArrayList<>();

	/** Of most waiters, since a lock is handed off with the same one only. */
	private final int ttl;

	private long now = Duration.ofDays(20_000).toNanos();

	private int holds;

	private int names;

	PlayedWorld(long seed, boolean tracing) {
		this.random = new Random(seed);
		this.tracing = tracing;
		this.ttl = this.random.nextBoolean() ? 300 : 1000;
		for (int i = 0; i < 3; i++) {
			this.instances.add(newInstance());
		}
	}

	private PlayedInstance newInstance() {
		return new PlayedInstance(this, String.valueOf((char) ('A' + this.names++)));
	}

	long now() {
		return this.now;
	}

	Random random() {
		return this.random;
	}

	/** What has happened, a line for each event. */
	List<String> trace() {
		return this.trace;
	}

	int holds() {
		return this.holds;
	}

	void trace(String format, Object... arguments) {
		if (this.tracing) {
			this.trace.add(this.now / 1_000_000 % 1_000_000 + " " + String.format(format, arguments));
		}
	}

	PlayedPromises promises() {
		return this.promises;
	}

	/** A waiter was told that it holds the lock, which took it some time. */
	void held(OwnerToken token, long fencingToken) {
		pass(EVENT_NANOS);
		this.holds++;
		this.promises.fencingTokensGrow(token, fencingToken);
	}

	/** The store forgets who owns the lock: those that had it may not know. */
	private void loseData() {
		trace("the store loses its data");
		// a server does not start again within the microsecond of its last token
		pass(RESTART_NANOS);
		Set<OwnerToken> owners = new HashSet<>();
		waiters(PlayedWaiter::isHolding).forEach((waiter) -> owners.add(waiter.token()));
		OwnerToken owner = this.store.loseData();
		if (owner != null) {
			owners.add(owner);
		}
		this.faults.lostData(owners);
	}

	// the network

	/**
	 * Sends an attempt.
	 * @return gives up waiting for its result
	 */
	Runnable acquire(PlayedInstance from, AcquireRequest request, Consumer<@Nullable AcquireResult> result) {
		Call call = send(from, "acquire " + request.token() + " " + request.queueMode(),
				() -> this.store.acquire(request), result, () -> {
				});
		return () -> call.ended = true;
	}

	void renew(PlayedInstance from, RenewRequest request, Consumer<@Nullable RenewResult> result) {
		send(from, "renew " + request.token(), () -> this.store.renew(request), result, () -> {
		});
	}

	void release(PlayedInstance from, ReleaseRequest request, Consumer<@Nullable ReleaseResult> result) {
		this.promises.releaseReportsLastFencingToken(request);
		OwnerToken token = request.token();
		this.leaving.add(token);
		send(from, "release " + token, () -> {
			this.leaving.remove(token);
			return this.store.release(request);
		}, result, () -> {
			this.leaving.remove(token);
			this.faults.lostRelease(token);
		});
	}

	private <T> Call send(PlayedInstance from, String what, Supplier<T> execution, Consumer<@Nullable T> result,
			Runnable lost) {
		Call call = new Call(() -> {
			if (!from.isDead()) {
				result.accept(null);
			}
		}, this.now + Duration.ofMillis(200).toNanos());
		this.calls.add(call);
		put(what, () -> {
			T executed = execution.get();
			trace("  %s: %s; %s", what, executed, this.store);
			put("result of " + what, () -> {
				if (!call.ended && !from.isDead()) {
					call.ended = true;
					result.accept(executed);
				}
			});
		}, lost);
		return call;
	}

	void publishGranted(OwnerToken token, long fencingToken, boolean othersWait) {
		PlayedInstance to = instance(token);
		if (to != null && to.isSubscribed()) {
			put("granted " + token, () -> {
				if (!to.isDead()) {
					to.granted(token, fencingToken, othersWait);
				}
			});
		}
	}

	void publishWanted(OwnerToken token) {
		PlayedInstance to = instance(token);
		if (to != null && to.isSubscribed()) {
			put("wanted " + token, () -> {
				if (!to.isDead()) {
					to.wanted(token);
				}
			});
		}
	}

	boolean isSubscribed(OwnerToken token) {
		PlayedInstance to = instance(token);
		return to != null && to.isSubscribed();
	}

	private @Nullable PlayedInstance instance(OwnerToken token) {
		return this.instances.stream()
			.filter((instance) -> instance.toString().equals(token.instance()))
			.findFirst()
			.orElse(null);
	}

	private void put(String what, Runnable arrive) {
		put(what, arrive, () -> {
		});
	}

	private void put(String what, Runnable arrive, Runnable lost) {
		this.transits.add(new Transit(what, arrive, lost));
	}

	// what happens

	/**
	 * Plays one history.
	 */
	void play() {
		for (int i = 0; i < STEPS; i++) {
			event();
			checkPromises();
		}
		trace("from now on everything works");
		calm();
	}

	private void event() {
		int kind = this.random.nextInt(100);
		if (kind < 33) {
			arrive();
		}
		else if (kind < 37) {
			lose();
		}
		else if (kind < 60) {
			any(waiters(PlayedWaiter::isRunnable), PlayedWaiter::step);
		}
		else if (kind < 70) {
			pass();
		}
		else if (kind < 77) {
			any(this.instances, PlayedInstance::watch);
		}
		else if (kind < 91) {
			holderDoesSomething(kind);
		}
		else {
			disturb(kind);
		}
	}

	private void holderDoesSomething(int kind) {
		if (kind < 82) {
			any(this.instances, this::newWaiter);
		}
		else if (kind < 86) {
			any(waiters(PlayedWaiter::isHolding), PlayedWaiter::look);
		}
		else if (kind < 88) {
			any(waiters(PlayedWaiter::isHolding), PlayedWaiter::renew);
		}
		else {
			any(waiters(PlayedWaiter::isHolding), (waiter) -> waiter.end(this.random.nextInt(5) == 0));
		}
	}

	private void disturb(int kind) {
		if (kind < 95) {
			any(this.calls, this::timeOut);
		}
		else if (kind < 97) {
			any(waiters(PlayedWaiter::isWaiting), (waiter) -> waiter.cancel(this.random.nextBoolean()));
		}
		else if (kind < 99) {
			any(this.instances, PlayedInstance::toggleInbox);
		}
		else if (this.random.nextInt(3) == 0) {
			any(this.instances, this::replace);
		}
		else if (this.random.nextInt(8) == 0) {
			loseData();
		}
	}

	private <T> void any(List<T> some, Consumer<T> what) {
		if (!some.isEmpty()) {
			what.accept(some.get(this.random.nextInt(some.size())));
		}
	}

	private List<PlayedWaiter> waiters(Predicate<PlayedWaiter> condition) {
		List<PlayedWaiter> some = new ArrayList<>();
		for (PlayedInstance instance : this.instances) {
			for (PlayedWaiter waiter : instance.waiters()) {
				if (condition.test(waiter)) {
					some.add(waiter);
				}
			}
		}
		return some;
	}

	private void newWaiter(PlayedInstance instance) {
		if (instance.waiters().stream().filter((waiter) -> !waiter.isDone()).count() > 3 || instance.isStopped()) {
			return;
		}
		int choice = this.random.nextInt(10);
		Duration ttl = Duration.ofMillis((choice < 7) ? this.ttl : 300 * choice);
		boolean renew = this.random.nextBoolean();
		long minHold = (this.random.nextInt(8) == 0) ? Duration.ofMillis(100).toNanos() : 0;
		LockParameters parameters = new LockParameters("order:42", null, ttl, renew, Time.FOREVER, minHold,
				OnLost.THROW, this.random.nextInt(3) == 0);
		long waitTime = (choice < 5) ? PATIENCE : Duration.ofMillis(this.random.nextInt(3000)).toNanos();
		boolean once = choice == 5;
		trace("%s: new waiter, ttl %s, renew %s, for %s", instance, ttl, renew, once ? "one attempt" : waitTime);
		instance.enqueue(parameters, once ? 0 : waitTime, once);
	}

	private void arrive() {
		if (this.transits.isEmpty()) {
			return;
		}
		int which = this.random.nextInt(this.transits.size());
		boolean twice = this.random.nextInt(12) == 0;
		Transit transit = twice ? this.transits.get(which) : this.transits.remove(which);
		trace("%s%s", transit.what, twice ? " (it will come again)" : "");
		transit.arrive.run();
	}

	private void lose() {
		if (!this.transits.isEmpty()) {
			Transit transit = this.transits.remove(this.random.nextInt(this.transits.size()));
			trace("lost: %s", transit.what);
			transit.lost.run();
		}
	}

	private void timeOut(Call call) {
		this.calls.remove(call);
		if (!call.ended) {
			call.ended = true;
			trace("no result");
			call.timeout.run();
		}
	}

	private void pass() {
		int choice = this.random.nextInt(20);
		pass(Duration.ofMillis((choice < 12) ? this.random.nextInt(5) : this.random.nextInt((choice < 19) ? 200 : 1500))
			.toNanos());
	}

	private void pass(long nanos) {
		this.now += nanos;
	}

	private void replace(PlayedInstance instance) {
		if (this.random.nextBoolean()) {
			trace("%s crashes", instance);
			instance.crash();
			this.instances.set(this.instances.indexOf(instance), newInstance());
		}
		else if (!instance.isClosing()) {
			trace("%s stops waiting", instance);
			instance.close();
		}
		else {
			trace("%s stops", instance);
			instance.stop();
		}
	}

	private void checkPromises() {
		waiters(PlayedWaiter::isHolding).forEach(PlayedWaiter::observe);
		this.promises.holderOwnsTheLockInTheStore(waiters(PlayedWaiter::isHolder));
		Set<OwnerToken> known = new HashSet<>(this.leaving);
		Set<String> alive = new HashSet<>();
		for (PlayedInstance instance : this.instances) {
			alive.add(instance.toString());
			instance.addKnown(known);
			this.promises.promptedInstanceAsks(instance);
			this.promises.watchdogLooksAtHolders(instance.nextDue(), instance.hold());
		}
		this.promises.tokensInTheStoreAreKnown(known, alive);
	}

	// the end

	/**
	 * Everything works: what is on its way arrives in order, and nothing is late. One
	 * instance may stay without messages.
	 */
	private void calm() {
		PlayedInstance uninformed = this.random.nextBoolean() ? this.instances.get(0) : null;
		this.instances.forEach((instance) -> {
			if (instance.isSubscribed() == (instance == uninformed)) {
				instance.toggleInbox();
			}
		});
		long end = this.now + MAX_CALM_NANOS;
		while (!waiters((waiter) -> !waiter.isDone()).isEmpty() || !this.transits.isEmpty() || hasOpenCalls()) {
			PlayedPromises.check(this.now < end,
					"waits for ever: " + waiters((waiter) -> !waiter.isDone()) + "; " + this.store);
			if (!settle()) {
				pass(untilNext());
			}
			checkPromises();
		}
		this.instances.forEach(this.promises::nothingIsLeft);
		pass(Duration.ofSeconds(61).toNanos());
		PlayedPromises.check(this.store.isFree(), "left in the store: " + this.store);
	}

	private boolean hasOpenCalls() {
		this.calls.removeIf((call) -> call.ended);
		return !this.calls.isEmpty();
	}

	/** Does what can be done without waiting; false if there was nothing. */
	private boolean settle() {
		boolean done = false;
		while (!this.transits.isEmpty()) {
			this.transits.remove(0).arrive.run();
			done = true;
		}
		for (Call call : List.copyOf(this.calls)) {
			if (this.now >= call.deadline) {
				timeOut(call);
				done = true;
			}
		}
		this.instances.forEach(PlayedInstance::watch);
		for (PlayedWaiter waiter : waiters(PlayedWaiter::isRunnable)) {
			if (waiter.isRunnable()) {
				waiter.step();
				done = true;
			}
		}
		for (PlayedWaiter waiter : waiters(PlayedWaiter::isHolding)) {
			waiter.end(false);
			done = true;
		}
		return done;
	}

	private long untilNext() {
		long next = Duration.ofMillis(50).toNanos();
		for (PlayedInstance instance : this.instances) {
			for (PlayedWaiter waiter : instance.waiters()) {
				Long until = waiter.parkedUntil();
				next = (until != null) ? Math.min(next, until - instance.now()) : next;
			}
			Long due = instance.nextDue();
			next = (due != null) ? Math.min(next, due - instance.now()) : next;
		}
		return Math.max(next, 10_000);
	}

}
