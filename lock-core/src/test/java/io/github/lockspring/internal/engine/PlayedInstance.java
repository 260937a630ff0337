package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.RejectedExecutionException;

import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.store.StoreTraits;
import org.jspecify.annotations.Nullable;

/**
 * An instance whose threads, clock and connection are played; its {@link KeyLockRegistry}
 * and all that is below are real. For one thread.
 */
final class PlayedInstance implements Time {

	static final String KEY = "order:42";

	private static final EngineSettings SETTINGS = new EngineSettings(Duration.ofSeconds(3), Duration.ofSeconds(3),
			null, Duration.ofMillis(200), Duration.ZERO, false);

	private final PlayedWorld world;

	private final String name;

	/** Clocks run at different speeds, within the drift allowance, and overflow. */
	private final double speed;

	private final long offset;

	private final PlayedConnection connection;

	private final KeyLockRegistry registry;

	private final List<PlayedUser> users = new ArrayList<>();

	/** When a token became the owner, and when others were first known to wait for it. */
	private final Map<OwnerToken, Long> heldSince = new HashMap<>();

	private final Map<OwnerToken, Long> contendedSince = new HashMap<>();

	/** The tokens of which attempts were sent. */
	private final Set<OwnerToken> asked = new HashSet<>();

	/** The first release of each token. */
	private final Map<OwnerToken, ReleaseRequest> released = new HashMap<>();

	/** What something has called for an attempt of; null if that was made. */
	private @Nullable KeyState prompted;

	private long promptedBy;

	/** What a renewal has just had no result for. */
	private @Nullable Held failedRenewal;

	private int arrivals;

	private boolean closing;

	private boolean stopped;

	private boolean dead;

	PlayedInstance(PlayedWorld world, String name, StoreTraits traits, boolean queueing) {
		this.world = world;
		this.name = name;
		this.speed = 1 + (world.random().nextInt(7) - 3) / 1000.0;
		this.offset = Long.MAX_VALUE - world.now() - world.random().nextLong(2_000_000_000L);
		this.connection = new PlayedConnection(world, this, traits, queueing);
		this.registry = new KeyLockRegistry(this.connection, SETTINGS, LockEvents.NOBODY, LockRecorder.NONE, null, this,
				new EngineThreads.Executors(this::run, this::run, Runnable::run, (watchdog) -> {
				}), new KeyLockRegistry.Chance(name, world::random));
	}

	/** A thread does it some time. */
	void run(Runnable task) {
		this.world.network().task("a thread of " + this.name + " goes on", () -> {
			if (!this.dead) {
				task.run();
			}
		});
	}

	/** As {@link #run}, by an executor that may be full. */
	void runForUser(Runnable task) {
		if (!this.world.isCalm() && this.world.random().nextInt(20) == 0) {
			throw new RejectedExecutionException("full");
		}
		run(task);
	}

	PlayedWorld world() {
		return this.world;
	}

	PlayedConnection connection() {
		return this.connection;
	}

	KeyLockRegistry registry() {
		return this.registry;
	}

	List<PlayedUser> users() {
		return this.users;
	}

	double speed() {
		return this.speed;
	}

	boolean isDead() {
		return this.dead;
	}

	boolean isClosing() {
		return this.closing;
	}

	boolean isStopped() {
		return this.stopped;
	}

	// the clock

	@Override
	public long nanoTime() {
		return this.offset + (long) (this.world.now() * this.speed);
	}

	@Override
	public long wallMicros() {
		return this.world.now() / 1000;
	}

	@Override
	public void park(Object blocker, long nanos) {
		throw new IllegalStateException("a thread parks");
	}

	@Override
	public void unpark(Thread thread) {
		throw new IllegalStateException("a thread is woken");
	}

	// what is inside

	@Nullable KeyState state() {
		KeyLock lock = this.registry.present(KEY);
		return (lock != null) ? lock.<@Nullable KeyState>read((state, waiting) -> state) : null;
	}

	@Nullable Held held() {
		return (state() instanceof Held held) ? held : null;
	}

	/** The token of its claim, if the store may have it, and those that it releases. */
	void addKnown(Set<OwnerToken> known) {
		for (OwnerToken token : this.world.store().tokens()) {
			if (this.registry.releases().registered(token) != null) {
				known.add(token);
			}
		}
		// a release may be given up before a thread has come to send it
		for (OwnerToken token : this.asked) {
			if (this.registry.releases().registered(token) != null) {
				noticeRelease(token);
			}
		}
		KeyState present = state();
		if (present != null) {
			known.add(present.claim.token());
		}
	}

	/** When its watchdog has something to do next, by its clock. */
	long nextDue() {
		return this.registry.watchdog().earliest();
	}

	void checkPromises() {
		KeyState present = state();
		KeyLock lock = this.registry.present(KEY);
		PlayedPromises promises = this.world.promises();
		checkPrompted(present);
		checkFailedRenewal();
		promises.watchdogIsTold(present, (lock != null) ? lock.due() : Watchdog.Watched.NOT_DUE, nextDue());
		this.users.forEach((user) -> promises.onceWaitsForItsAnswerOnly(user, present));
	}

	private void checkFailedRenewal() {
		Held failed = this.failedRenewal;
		if (failed != null && held() == failed && failed.needsRenewal()) {
			this.world.promises().renewalIsTriedAgain(failed.lease.renewAt() - nanoTime(), length(failed) / 10);
		}
		this.failedRenewal = null;
	}

	void renewalFailed(Held held) {
		this.failedRenewal = held;
	}

	private void checkPrompted(@Nullable KeyState present) {
		KeyState before = this.prompted;
		if (before != null && present != null && present.claim == before.claim && !isNewAttempt(present, before)) {
			this.world.promises().promptedInstanceAsks(present, this.promptedBy);
		}
		else {
			this.prompted = null;
		}
	}

	private static boolean isNewAttempt(KeyState present, KeyState before) {
		return present != before && present instanceof KeyState.Asking;
	}

	/** For how long others are known to have waited for what is held here. */
	long contendedFor(OwnerToken token, long now) {
		long held = this.heldSince.getOrDefault(token, now);
		Long others = this.contendedSince.get(token);
		if (others == null) {
			return this.connection.isConfirmed() ? 0 : now - held;
		}
		return now - Time.later(held, others);
	}

	// what is played

	PlayedUser enqueue(LockParameters parameters, long waitTime, boolean once, boolean asFuture) {
		this.users.removeIf(PlayedUser::isDone);
		Waiter.WaitOptions options = new Waiter.WaitOptions(nanoTime() + waitTime, once, Time.FOREVER, true, false);
		PlayedUser user = new PlayedUser(this, parameters, options, asFuture, this.arrivals++);
		this.users.add(user);
		user.start();
		return user;
	}

	void crash() {
		this.dead = true;
		this.users.clear();
		this.connection.close();
	}

	void stopWaiting() {
		this.closing = true;
		this.registry.setClosing(true);
	}

	void stop() {
		this.stopped = true;
		this.registry.stop();
		this.world.promises()
			.stoppedInstanceHoldsNothing(this.users.stream().filter(PlayedUser::isHolder).toList(),
					this.users.stream().filter(PlayedUser::isUndecided).toList());
	}

	/**
	 * A round of the watchdog, if it has something to do.
	 * @return whether it had
	 */
	boolean watch() {
		long now = nanoTime();
		if (this.dead || nextDue() - now > 0) {
			return false;
		}
		Held before = held();
		boolean due = before != null && before.needsRenewal() && now - before.lease.renewAt() >= 0;
		int sent = this.connection.renewals();
		this.registry.watchdog().round();
		PlayedPromises promises = this.world.promises();
		KeyState present = state();
		this.users.stream()
			.filter((user) -> !user.endsItself())
			.forEach((user) -> promises.waitEndsInTime(user, present, now));
		Held after = held();
		if (due && after == before && before != null) {
			promises.dueRenewalIsSent(true, this.connection.renewals() > sent || this.connection.traits().blocking());
			promises.renewalIsTriedAgain(before.lease.renewAt() - now, length(before) / 3);
		}
		return true;
	}

	/** The length of the lease, with what its sixth leaves out. */
	static long length(Held held) {
		return (held.lease.window() + 1) * 6;
	}

	// requests

	void releases(ReleaseRequest request) {
		boolean first = this.released.putIfAbsent(request.token(), request) == null;
		noticeRelease(request.token());
		this.world.promises().releaseReportsLastFencingToken(request, first);
	}

	/**
	 * An attempt may be sent when its release was registered, or has been given up: a
	 * thread of the background sends it when it comes to it.
	 */
	private void noticeRelease(OwnerToken token) {
		Release registered = this.registry.releases().registered(token);
		KeyState present = state();
		if (registered != null) {
			long left = (long) ((registered.until() - nanoTime()) / this.speed);
			this.world.faults().releasing(token, this.world.now() + left);
		}
		else if (present == null || !present.claim.token().equals(token)) {
			this.world.faults().releasing(token, 0);
		}
	}

	/** The release of a token that was sent first, or will be. */
	ReleaseRequest releaseOf(OwnerToken token) {
		ReleaseRequest sent = this.released.get(token);
		if (sent != null) {
			return sent;
		}
		Release registered = this.registry.releases().registered(token);
		if (registered == null) {
			throw new IllegalStateException("the end of " + token + " is neither a release nor a hand-off");
		}
		return registered.request(nanoTime());
	}

	/** An attempt is sent, which serves everything that was known before. */
	void asks(OwnerToken token) {
		this.asked.add(token);
		noticeRelease(token);
		if (this.prompted != null && this.prompted.claim.token().equals(token) && state() != this.prompted) {
			this.prompted = null;
		}
	}

	void holds(Held hold) {
		this.heldSince.putIfAbsent(hold.token(), nanoTime());
	}

	// messages

	void granted(OwnerToken token, long fencingToken, boolean othersWait) {
		this.world.faults().told(token, this.registry.releases().registered(token) != null);
		prompt(token, nanoTime());
		if (othersWait) {
			contended(token);
		}
		this.registry.granted(KEY, token, fencingToken, othersWait);
	}

	void wanted(OwnerToken token) {
		this.world.faults().told(token, this.registry.releases().registered(token) != null);
		prompt(token, nanoTime());
		contended(token);
		this.registry.wanted(KEY, token);
	}

	void opened() {
		KeyState present = state();
		if (present != null) {
			prompt(present.claim.token(), nanoTime() + Duration.ofMillis(50).toNanos());
		}
		this.registry.opened();
	}

	private void contended(OwnerToken token) {
		KeyState present = state();
		if (present != null && present.claim.token().equals(token)) {
			this.contendedSince.putIfAbsent(token, nanoTime());
		}
	}

	/** Calls for an attempt, if it is not known who owns the lock. */
	private void prompt(OwnerToken token, long by) {
		KeyState present = state();
		if (present != null && !(present instanceof Held) && present.claim.token().equals(token)) {
			this.promptedBy = (this.prompted != null) ? Time.earlier(this.promptedBy, by) : by;
			this.prompted = present;
		}
	}

	@Override
	public String toString() {
		return this.name;
	}

}
