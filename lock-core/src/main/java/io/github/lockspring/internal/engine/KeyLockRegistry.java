package io.github.lockspring.internal.engine;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.KeyState.Asking;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.Instances;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locks of one instance: one for each key that is in use here. Connects the locks
 * with the store, its messages, and the threads. Thread-safe.
 */
/*
 * For maintainers: a token is "known" from before its first request is sent until its
 * release has been answered or was given up: as that of its key's claim, or in Releases.
 * A message about a token that is not known is answered with a release: this is how the
 * store gets rid of orphans. A lock removes itself, under its monitor, when it has
 * neither a state nor waiters.
 */
final class KeyLockRegistry implements KeyLockPort, InboxListener {

	private static final Logger logger = LoggerFactory.getLogger(KeyLockRegistry.class);

	/** Spreads the attempts that follow a new subscription. */
	private static final long MAX_SPREAD_NANOS = 50_000_000;

	/**
	 * The parts of an instance that differ from one run to the next.
	 *
	 * @param instance the identity of the instance, part of its owner tokens
	 * @param random spreads the attempts of several instances
	 */
	record Chance(String instance, Supplier<RandomGenerator> random) {
	}

	private final EngineSettings settings;

	private final Time time;

	private final EngineThreads.Executors executors;

	private final LockEvents events;

	private final StoreClient client;

	private final Releases releases;

	private final Renewals renewals;

	private final Watchdog watchdog;

	private final RetrySchedule retry;

	private final String instance;

	private final Supplier<RandomGenerator> random;

	/** Added to the engine's time, this gives microseconds of the wall clock. */
	private final long epochMicros;

	private final AtomicLong sequence = new AtomicLong();

	private final ConcurrentHashMap<String, KeyLock> locks = new ConcurrentHashMap<>();

	private final Optional<Inbox> inbox;

	private final Instances instances;

	/** The attempts that were under way at the stop, and have no answer yet. */
	private final Set<Asking> stoppedAsking = ConcurrentHashMap.newKeySet();

	private volatile boolean inboxOpened;

	private volatile boolean closing;

	private volatile boolean stopped;

	KeyLockRegistry(LockStore store, EngineSettings settings, Consumer<LockEvent> listener, LockRecorder recorder,
			@Nullable Supplier<InstanceInfo> description, Time time, EngineThreads.Executors executors) {
		this(store, settings, listener, recorder, description, time, executors,
				new Chance(newInstance(time.nanoTime()), ThreadLocalRandom::current));
	}

	/** Creates an instance from given chance, so that a test can repeat it. */
	KeyLockRegistry(LockStore store, EngineSettings settings, Consumer<LockEvent> listener, LockRecorder recorder,
			@Nullable Supplier<InstanceInfo> description, Time time, EngineThreads.Executors executors, Chance chance) {
		this.settings = settings;
		this.time = time;
		this.executors = executors;
		this.instance = chance.instance();
		this.random = chance.random();
		this.epochMicros = time.wallMicros() - micros(time.nanoTime());
		this.events = new LockEvents(listener, recorder, executors.events());
		this.client = new StoreClient(store, settings.commandTimeout(), this.events, time, executors);
		this.releases = new Releases(this.client, time, this::due);
		this.renewals = new Renewals(this.client, time, this.events);
		this.instances = new Instances(this.instance, description, store, settings.commandTimeout(), time,
				executors.io());
		this.watchdog = new Watchdog(time, executors.watchdog(), this.locks.values(), this.renewals::send, this::tick,
				this.events);
		this.retry = new RetrySchedule(this.random, settings.commandTimeout().toNanos());
		this.inbox = store.inbox(this.instance, this);
	}

	private static String newInstance(long nanoTime) {
		byte[] random = new byte[16];
		new SecureRandom().nextBytes(random);
		// an image of the process that is restored twice contains the generator's state
		ByteBuffer bytes = ByteBuffer.wrap(random);
		bytes.putLong(0, bytes.getLong(0) ^ nanoTime);
		return Base64.getUrlEncoder().withoutPadding().encodeToString(random);
	}

	// what the rest of the engine uses

	EngineSettings settings() {
		return this.settings;
	}

	Time time() {
		return this.time;
	}

	Instances instances() {
		return this.instances;
	}

	StoreClient client() {
		return this.client;
	}

	@Override
	public Releases releases() {
		return this.releases;
	}

	Watchdog watchdog() {
		return this.watchdog;
	}

	@Override
	public LockEvents events() {
		return this.events;
	}

	String instance() {
		return this.instance;
	}

	/**
	 * Lets a waiter wait for its key.
	 * @return the lock in whose queue it is
	 * @throws LockUnavailableException if the watchdog cannot be started
	 */
	KeyLock enqueue(Waiter waiter) {
		try {
			this.watchdog.start();
		}
		catch (RuntimeException | Error ex) {
			throw StoreClient.noThread(ex);
		}
		String key = waiter.parameters().key();
		while (true) {
			KeyLock lock = this.locks.get(key);
			if (lock == null) {
				lock = this.locks.computeIfAbsent(key, (absent) -> new KeyLock(absent, this, this.retry));
			}
			if (lock.enqueue(waiter, this.time.nanoTime())) {
				return lock;
			}
		}
	}

	/** Returns the lock of a key that is in use here, or null. */
	@Nullable KeyLock present(String key) {
		return this.locks.get(key);
	}

	Iterable<KeyLock> locks() {
		return this.locks.values();
	}

	/** Whether nothing is held or waited for. */
	boolean isIdle() {
		return this.locks.isEmpty();
	}

	/** For tests. */
	boolean isEmpty() {
		return isIdle() && this.releases.isEmpty();
	}

	/** Whether attempts were under way at the stop that are not answered. */
	boolean isAnswerAwaited() {
		return !this.stoppedAsking.isEmpty();
	}

	void checkRunning() {
		if (this.stopped) {
			throw new LockUnavailableException("Locks cannot be acquired: the application has stopped");
		}
	}

	void setClosing(boolean closing) {
		this.closing = closing;
		if (closing) {
			this.locks.values().forEach((lock) -> lock.closing(this.time.nanoTime()));
		}
	}

	/**
	 * From now on nothing is acquired, for good. What is held is released.
	 * @return the keys that were held
	 */
	List<String> stop() {
		this.stopped = true;
		List<String> held = new ArrayList<>();
		for (KeyLock lock : this.locks.values()) {
			if (lock.stop(this.time.nanoTime())) {
				held.add(lock.key());
			}
		}
		return held;
	}

	/** Returns whether messages arrive; empty while none are needed. */
	Optional<Boolean> inboxState() {
		return this.inbox.filter((inbox) -> inbox.isConfirmed() || (this.inboxOpened && inbox.isOpen()))
			.map(Inbox::isConfirmed);
	}

	void closeInbox() {
		this.inbox.ifPresent(Inbox::close);
	}

	// time

	private long tick(long now) {
		if (!this.locks.isEmpty()) {
			this.instances.register();
		}
		return Time.earlier(this.releases.tick(now), this.renewals.tick(now));
	}

	// what locks need

	/**
	 * Later tokens have larger numbers, also after a restart: some stores compare them.
	 */
	@Override
	public Claim newClaim(int grantMillis, long now) {
		long number = this.sequence.accumulateAndGet(this.epochMicros + micros(now),
				(last, present) -> Math.max(last + 1, present));
		return new Claim(new OwnerToken(this.instance, number, grantMillis), now);
	}

	private static long micros(long nanos) {
		return TimeUnit.NANOSECONDS.toMicros(nanos);
	}

	@Override
	public void stoppedAsking(Asking attempt) {
		this.stoppedAsking.add(attempt);
	}

	@Override
	public void drop(KeyLock lock) {
		this.locks.remove(lock.key(), lock);
	}

	@Override
	public void due(long at) {
		this.watchdog.due(at);
	}

	@Override
	public LockUnavailableException noteUnanswered(AcquireRequest request) {
		return this.client.noteUnanswered(request.key());
	}

	@Override
	public void send(Asking attempt, boolean mayBlock) {
		this.client.acquire(attempt.request(), mayBlock, (result, failure) -> {
			try {
				long now = this.time.nanoTime();
				if (result != null) {
					attempt.lock.answered(attempt, result, now);
				}
				else if (failure != null) {
					attempt.lock.failed(attempt, failure, now);
				}
			}
			finally {
				// last: what the answer has brought is being released by now
				this.stoppedAsking.remove(attempt);
			}
		});
	}

	@Override
	public void lost(Held hold, Cause cause, long now) {
		LossInterrupt interrupt = hold.lossInterrupt();
		if (interrupt != null) {
			interrupt(interrupt);
		}
		reportLoss(hold, cause, hold.heldFor(now));
	}

	/** On a thread of its own: an interrupt closes the channel that the thread reads. */
	private void interrupt(LossInterrupt interrupt) {
		try {
			this.executors.io().execute(interrupt::send);
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			interrupt.send();
		}
	}

	/**
	 * Reports the loss of a hold whose end is recorded.
	 */
	void reportLoss(Held hold, Cause cause, Duration heldFor) {
		LockParameters lock = hold.parameters();
		String reason = LockMessages.reason(cause);
		this.events.record((to) -> to.lost(lock.name(), cause));
		this.events.execute(() -> LockMessages.about(logger.atWarn(), lock, hold.fencingToken())
			.log("{} was lost after {} (fencing token {}): {}. The work done under it may have overlapped the work"
					+ " of another holder", LockMessages.lock(lock), LockMessages.duration(heldFor),
					hold.fencingToken(), reason));
		this.events
			.publishAsync(new LockEvents.Lost(lock.key(), lock.name(), hold.fencingToken(), heldFor, cause, reason));
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
		return this.inbox.isPresent();
	}

	@Override
	public boolean isOrdered() {
		return this.client.traits().ordered();
	}

	@Override
	public Duration lease(Duration ttl) {
		return this.client.lease(ttl);
	}

	@Override
	public boolean isInformed() {
		return this.inbox.isPresent() && this.inbox.get().isConfirmed();
	}

	/** An effect: a waiter that is queued must not fail by it. */
	@Override
	public void openInbox() {
		try {
			this.instances.register();
			if (!isInformed()) {
				this.inbox.ifPresent(this::open);
			}
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			this.events.execute(
					() -> logger.error("The inbox could not be opened; the next caller that waits tries again", ex));
		}
	}

	/** An attempt that ends after the stop must not leave an open inbox behind. */
	private void open(Inbox inbox) {
		if (!this.stopped) {
			this.inboxOpened = true;
			inbox.open();
			if (this.stopped) {
				inbox.close();
			}
		}
	}

	// messages

	@Override
	public void granted(String key, OwnerToken token, long fencingToken, boolean othersWait) {
		KeyLock lock = this.locks.get(key);
		if (lock == null || !lock.granted(token, fencingToken, othersWait, this.time.nanoTime())) {
			releaseOrphan(key, token);
		}
	}

	@Override
	public void wanted(String key, OwnerToken token) {
		KeyLock lock = this.locks.get(key);
		if (lock == null || !lock.wanted(token, this.time.nanoTime())) {
			releaseOrphan(key, token);
		}
	}

	/**
	 * Looked up last: a lock registers the release before it drops the claim. Repeated
	 * for the default ttl only: the request that left it may have had a longer one, and
	 * then the next message about it has to begin again.
	 */
	private void releaseOrphan(String key, OwnerToken token) {
		long until = this.time.nanoTime() + this.settings.ttl().toNanos();
		if (token.instance().equals(this.instance) && !this.releases.prolong(token, until)) {
			this.releases.send(this.releases.register(new ReleaseRequest(key, token), null, until), false);
		}
	}

	@Override
	public void reconnected() {
		for (KeyLock lock : this.locks.values()) {
			long now = this.time.nanoTime();
			lock.reconnected(now + this.random.get().nextLong(MAX_SPREAD_NANOS), now);
		}
	}

	@Override
	public void opened() {
		for (KeyLock lock : this.locks.values()) {
			long now = this.time.nanoTime();
			lock.subscribed(now + this.random.get().nextLong(MAX_SPREAD_NANOS), now);
		}
	}

}
