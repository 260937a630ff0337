package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * A few instances and a store, on one thread: a seed decides what happens next. What is
 * on its way may arrive late, in another order, twice or not at all; clocks differ;
 * threads run late; instances crash and stop. Then everything works again, and every
 * waiter must get the lock or be told why not, and nothing may be left.
 */
final class PlayedWorld {

	private static final int STEPS = 300;

	/** How long waiters may need once everything works: several leases and hand-overs. */
	private static final long MAX_CALM_NANOS = Duration.ofSeconds(120).toNanos();

	/** Tokens follow the server's clock: what raises one by 1 takes more than 1 µs. */
	private static final long EVENT_NANOS = 5_000;

	private static final long RESTART_NANOS = 1_000_000;

	private static final long PATIENCE = Duration.ofDays(1).toNanos();

	private final Random random;

	private final boolean tracing;

	private final PlayedNetwork network;

	private final PlayedFaults faults = new PlayedFaults();

	private final PlayedStore store = new PlayedStore(this, this.faults);

	private final PlayedPromises promises = new PlayedPromises(this, this.store, this.faults);

	private final List<PlayedInstance> instances = new ArrayList<>();

	private final List<String> trace = new ArrayList<>();

	private final StoreTraits traits;

	private final boolean queueing;

	/** Of most waiters, since a lock is handed off with the same one only. */
	private final int ttl;

	/** No message reaches this one once everything works. */
	private @Nullable PlayedInstance deaf;

	private boolean calm;

	private long now = Duration.ofDays(20_000).toNanos();

	private int holds;

	private int names;

	PlayedWorld(long seed, boolean tracing) {
		this.random = new Random(seed);
		this.tracing = tracing;
		this.network = new PlayedNetwork(this);
		// some bits of a seed differ from the next one's later than others
		this.random.nextLong();
		this.ttl = this.random.nextBoolean() ? 300 : 1000;
		this.traits = StoreTraits.exact()
			.withOrdered(this.random.nextBoolean())
			.withBlocking(this.random.nextInt(4) == 0);
		this.queueing = this.random.nextInt(8) != 0;
		for (int i = 0; i < 3; i++) {
			this.instances.add(newInstance());
		}
		trace("%s, %s", this.traits, this.queueing ? "a queue" : "no queue");
	}

	private PlayedInstance newInstance() {
		return new PlayedInstance(this, String.valueOf((char) ('A' + this.names++)), this.traits, this.queueing);
	}

	static LockUnavailableException noResult(boolean permanent) {
		return new LockUnavailableException("no result", null, permanent);
	}

	long now() {
		return this.now;
	}

	Random random() {
		return this.random;
	}

	PlayedNetwork network() {
		return this.network;
	}

	PlayedStore store() {
		return this.store;
	}

	PlayedFaults faults() {
		return this.faults;
	}

	PlayedPromises promises() {
		return this.promises;
	}

	/** What has happened, a line for each event. */
	List<String> trace() {
		return this.trace;
	}

	int holds() {
		return this.holds;
	}

	/** Whether everything works by now. */
	boolean isCalm() {
		return this.calm;
	}

	boolean isDeaf(PlayedInstance instance) {
		return this.deaf == instance;
	}

	void trace(String format, @Nullable Object... arguments) {
		if (this.tracing) {
			this.trace.add(this.now / 1_000_000 % 1_000_000 + " " + String.format(format, arguments));
		}
	}

	/** The store forgets who owns the lock: those that had it may not know. */
	private void loseData() {
		trace("the store loses its data");
		// a server does not start again within the microsecond of its last token
		pass(RESTART_NANOS);
		Set<OwnerToken> owners = new HashSet<>();
		users(PlayedUser::isHolder).forEach((user) -> owners.add(user.token()));
		OwnerToken owner = this.store.loseData();
		if (owner != null) {
			owners.add(owner);
		}
		this.faults.lostData(owners);
	}

	// messages

	void publishGranted(OwnerToken token, long fencingToken, boolean othersWait) {
		PlayedInstance to = instance(token);
		if (to != null) {
			to.connection().publishGranted(token, fencingToken, othersWait);
		}
	}

	void publishWanted(OwnerToken token) {
		PlayedInstance to = instance(token);
		if (to != null) {
			to.connection().publishWanted(token);
		}
	}

	boolean isSubscribed(OwnerToken token) {
		PlayedInstance to = instance(token);
		return to != null && to.connection().isSubscribed();
	}

	private @Nullable PlayedInstance instance(OwnerToken token) {
		return this.instances.stream()
			.filter((instance) -> instance.toString().equals(token.instance()))
			.findFirst()
			.orElse(null);
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
			this.network.arrive();
		}
		else if (kind < 37) {
			this.network.lose();
		}
		else if (kind < 52) {
			any(users(PlayedUser::isRunnable), PlayedUser::step);
		}
		else if (kind < 64) {
			passAWhile();
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
			any(this.instances, this::newUser);
		}
		else if (kind < 86) {
			any(users(PlayedUser::isHolding), PlayedUser::look);
		}
		else if (kind < 88) {
			any(users((user) -> user.isHolding() && user.isHolder()), (user) -> user.renew(this.random.nextBoolean()));
		}
		else {
			any(users(PlayedUser::isHolding), PlayedUser::end);
		}
	}

	private void disturb(int kind) {
		if (kind < 94) {
			this.network.fail();
		}
		else if (kind < 97) {
			any(users((user) -> !user.isHolding() && !user.isDone()), (user) -> user.cancel(this.random.nextBoolean()));
		}
		else if (kind < 99) {
			any(this.instances, this::toggleInbox);
		}
		else if (this.random.nextInt(3) == 0) {
			any(this.instances, this::replace);
		}
		else if (this.random.nextInt(8) == 0) {
			loseData();
		}
	}

	private void toggleInbox(PlayedInstance instance) {
		trace("%s: the subscription %s", instance, instance.connection().isSubscribed() ? "is lost" : "is back");
		if (instance.connection().isSubscribed()) {
			instance.connection().unsubscribe();
		}
		else {
			instance.connection().subscribe();
		}
	}

	private <T> void any(List<T> some, Consumer<T> what) {
		if (!some.isEmpty()) {
			what.accept(some.get(this.random.nextInt(some.size())));
		}
	}

	private List<PlayedUser> users(Predicate<PlayedUser> condition) {
		List<PlayedUser> some = new ArrayList<>();
		for (PlayedInstance instance : this.instances) {
			for (PlayedUser user : instance.users()) {
				if (condition.test(user)) {
					some.add(user);
				}
			}
		}
		return some;
	}

	private void newUser(PlayedInstance instance) {
		if (instance.users().stream().filter((user) -> !user.isDone()).count() > 3 || instance.isStopped()) {
			return;
		}
		int choice = this.random.nextInt(10);
		Duration ttl = Duration.ofMillis((choice < 7) ? this.ttl : 300 * choice);
		boolean renew = this.random.nextBoolean();
		long minHold = (this.random.nextInt(8) == 0) ? Duration.ofMillis(100).toNanos() : 0;
		LockParameters parameters = new LockParameters(PlayedInstance.KEY, null, ttl, renew, Time.FOREVER, minHold,
				OnLost.THROW, false);
		long waitTime = (choice < 5) ? PATIENCE : Duration.ofMillis(this.random.nextInt(3000)).toNanos();
		boolean once = choice == 5;
		PlayedUser user = instance.enqueue(parameters, once ? 0 : waitTime, once, this.random.nextInt(3) == 0);
		trace("%s: new user, ttl %s, renew %s, for %s", user, ttl, renew, once ? "one attempt" : waitTime);
	}

	/** Passes a short time mostly, and a long one now and then. */
	void passAWhile() {
		int choice = this.random.nextInt(20);
		if (this.calm) {
			pass(this.random.nextInt(1_000_000));
		}
		else if (choice < 12) {
			pass(this.random.nextInt(5_000_000));
		}
		else {
			pass(Duration.ofMillis(this.random.nextInt((choice < 19) ? 200 : 1500)).toNanos());
		}
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
			instance.stopWaiting();
		}
		else {
			trace("%s stops", instance);
			instance.stop();
		}
	}

	private void checkPromises() {
		users((user) -> user.newHold() != null).forEach(this::held);
		users(PlayedUser::isHolding).forEach(PlayedUser::observe);
		this.promises.holderOwnsTheLockInTheStore(users(PlayedUser::isHolder));
		Set<OwnerToken> known = new HashSet<>();
		Set<String> alive = new HashSet<>();
		for (PlayedInstance instance : this.instances) {
			alive.add(instance.toString());
			instance.addKnown(known);
			instance.checkPromises();
		}
		this.promises.tokensInTheStoreAreKnown(known, alive);
		this.promises.areKept();
	}

	/** A waiter was told that it holds the lock, which took it some time. */
	private void held(PlayedUser user) {
		Held hold = user.newHold();
		if (hold != null) {
			trace("%s: holds %s, %s", user, hold.token(), hold.fencingToken());
			user.begins(hold);
			pass(EVENT_NANOS);
			this.holds++;
			this.promises.fencingTokensGrow(hold.token(), hold.fencingToken());
		}
	}

	// the end

	/**
	 * Everything works: what is on its way arrives in order, and nothing is late. One
	 * instance may stay without messages.
	 */
	private void calm() {
		this.calm = true;
		this.deaf = this.random.nextBoolean() ? this.instances.get(0) : null;
		this.instances.forEach((instance) -> {
			if (isDeaf(instance)) {
				instance.connection().close();
			}
			else if (!instance.connection().isSubscribed() && !instance.isStopped()) {
				instance.connection().subscribe();
			}
		});
		long end = this.now + MAX_CALM_NANOS;
		while (!users((user) -> !user.isDone()).isEmpty() || !this.network.isEmpty() || !areEmpty()) {
			this.promises.check(this.now < end, "waits for ever: " + users((user) -> !user.isDone()) + "; " + this.store
					+ "; " + this.instances.stream().map(PlayedInstance::state).toList());
			if (!settle()) {
				pass(untilNext());
			}
			checkPromises();
		}
		pass(Duration.ofSeconds(61).toNanos());
		this.promises.check(this.store.isFree(), "left in the store: " + this.store);
		this.promises.areKept();
	}

	private boolean areEmpty() {
		return this.instances.stream().allMatch((instance) -> instance.registry().isEmpty());
	}

	/** Does one thing that can be done without waiting; false if there is nothing. */
	private boolean settle() {
		if (this.network.deliver()) {
			return true;
		}
		for (PlayedUser user : users(PlayedUser::isRunnable)) {
			user.step();
			return true;
		}
		for (PlayedUser user : users(PlayedUser::isHolding)) {
			user.end();
			return true;
		}
		for (PlayedInstance instance : this.instances) {
			if (instance.watch()) {
				return true;
			}
		}
		return false;
	}

	private long untilNext() {
		long next = Duration.ofMillis(50).toNanos();
		for (PlayedInstance instance : this.instances) {
			long present = instance.nanoTime();
			next = Math.min(next, instance.nextDue() - present);
			for (PlayedUser user : instance.users()) {
				boolean waits = user.isUndecided() && user.endsItself();
				next = waits ? Math.min(next, user.until() - present) : next;
			}
		}
		return Math.max(next, 10_000);
	}

}
