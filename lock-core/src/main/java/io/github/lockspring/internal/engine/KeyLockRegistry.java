package io.github.lockspring.internal.engine;

import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;

import io.github.lockspring.LockEvent.Lost.Cause;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.engine.support.AsyncReleases;
import io.github.lockspring.internal.engine.support.InstanceRegistration;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder.Renewal;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.Recording;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.StoreDispatcher;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.InboxListener;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.LockStore.RenewResult;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The locks of one instance: one for each key that is in use here. Connects the locks
 * with the store, its messages, and the machinery. Thread-safe.
 * <p>
 * For maintainers: a token is <em>known</em> from before its first request is sent until
 * its release has a result or was given up: as the token of its key's present ownership,
 * or as one whose release is under way. A message about a token that is not known is
 * answered with a release: this is how the store gets rid of orphans. A lock removes
 * itself, under its monitor, when it has neither an ownership nor waiters. A monitor is
 * never entered inside another one, nor held during a request.
 */
final class KeyLockRegistry implements KeyLockPort, InboxListener {

	/** A renewal that fails can be tried again before the lease ends, more than once. */
	private static final double RENEWAL_INTERVAL = 1.0 / 3;

	/** Most leases that one request renews: other requests do not wait long behind it. */
	private static final int RENEWAL_BATCH = 100;

	/**
	 * How long a lock stays in this instance while another one waits: many short holds
	 * share one hand-over, and nobody notices the wait.
	 */
	static final long MAX_HANDOFF_NANOS = 10_000_000;

	private static final Logger logger = LoggerFactory.getLogger(KeyLock.class);

	/** Spreads the attempts that follow a new subscription. */
	private static final long MAX_SPREAD_NANOS = 50_000_000;

	private final EngineSettings settings;

	private final Time time;

	private final StoreClient client;

	private final StoreDispatcher dispatcher;

	private final AsyncReleases asyncReleases;

	private final Watchdog watchdog;

	private final Executor ioThreads;

	private final LockEvents events;

	private final Recording recording;

	/** Whether the time of acquisitions and holds is of any use. */
	private final boolean timed;

	private final RenewalPolicy renewal;

	private final LocalHandoff handoff;

	private final RetrySchedule retry;

	private final String instance;

	/** What to add to the engine's time for microseconds of the wall clock. */
	private final long epochMicros;

	private final AtomicLong sequence = new AtomicLong();

	private final ConcurrentHashMap<String, KeyLock> locks = new ConcurrentHashMap<>();

	/**
	 * Tokens whose release in the background has no result yet, and whether a message has
	 * given them the lock meanwhile.
	 */
	private final Map<OwnerToken, Boolean> releasing = new ConcurrentHashMap<>();

	private final Optional<Inbox> inbox;

	private final InstanceRegistration registration;

	private volatile boolean inboxOpened;

	private volatile boolean closing;

	private volatile boolean stopped;

	KeyLockRegistry(LockStore store, EngineSettings settings, Consumer<LockEvent> listener, LockRecorder recorder,
			Time time, Executor ioThreads, Executor eventThread, Executor watchdogThread) {
		this.settings = settings;
		this.time = time;
		this.ioThreads = ioThreads;
		this.instance = newInstance(time.nanoTime());
		this.epochMicros = time.wallMicros() - micros();
		this.events = new LockEvents(listener, eventThread);
		this.recording = new Recording(recorder, this.events);
		this.timed = this.recording.isOn() || this.events.isHeard();
		this.client = new StoreClient(store, settings.commandTimeout(), this.events, this.recording, time);
		this.dispatcher = new StoreDispatcher(this.client, RENEWAL_BATCH, time, ioThreads, this.events);
		this.asyncReleases = new AsyncReleases(this.client, this.dispatcher, time, this.events);
		this.registration = new InstanceRegistration(this.instance, this.client, time, ioThreads);
		this.watchdog = new Watchdog(time, watchdogThread, this.locks.values(), this.dispatcher::renew,
				this.registration, this.events);
		this.renewal = new RenewalPolicy(RENEWAL_INTERVAL);
		this.handoff = new LocalHandoff(MAX_HANDOFF_NANOS);
		this.retry = new RetrySchedule(ThreadLocalRandom::current, settings.commandTimeout().toNanos());
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

	StoreClient client() {
		return this.client;
	}

	StoreDispatcher dispatcher() {
		return this.dispatcher;
	}

	AsyncReleases asyncReleases() {
		return this.asyncReleases;
	}

	Watchdog watchdog() {
		return this.watchdog;
	}

	LockEvents events() {
		return this.events;
	}

	Recording recording() {
		return this.recording;
	}

	boolean isTimed() {
		return this.timed;
	}

	String instance() {
		return this.instance;
	}

	KeyLock lock(String key) {
		KeyLock lock = this.locks.get(key);
		return (lock != null) ? lock
				: this.locks.computeIfAbsent(key, (absent) -> new KeyLock(absent, this, this.handoff, this.retry));
	}

	/** Returns the lock of a key that is in use here, or null. */
	@Nullable KeyLock present(String key) {
		return this.locks.get(key);
	}

	Iterable<KeyLock> locks() {
		return this.locks.values();
	}

	/** Lets other instances know who this one is. */
	KeyLockRegistry describedBy(Supplier<InstanceInfo> description) {
		this.registration.describe(description);
		return this;
	}

	boolean isEmpty() {
		return this.locks.isEmpty() && this.releasing.isEmpty();
	}

	void checkRunning() {
		if (this.stopped) {
			throw new LockUnavailableException("Locks cannot be acquired: the application has stopped");
		}
	}

	/** From now on nothing is acquired, for good. */
	void setStopped() {
		this.stopped = true;
	}

	void setClosing(boolean closing) {
		this.closing = closing;
		if (closing) {
			this.locks.values().forEach(KeyLock::wakeAll);
		}
	}

	/** Returns whether messages arrive; empty while none are needed. */
	Optional<Boolean> inboxState() {
		return this.inbox.filter((inbox) -> inbox.isConfirmed() || (this.inboxOpened && inbox.isOpen()))
			.map(Inbox::isConfirmed);
	}

	void closeInbox() {
		this.inbox.ifPresent(Inbox::close);
	}

	// what locks need

	@Override
	public Ownership newOwnership(KeyLock lock, int grantMillis) {
		long number = this.sequence.accumulateAndGet(this.epochMicros + micros(),
				(last, present) -> Math.max(last + 1, present));
		return new Ownership(lock, new OwnerToken(this.instance, number, grantMillis), this.renewal);
	}

	private long micros() {
		return TimeUnit.NANOSECONDS.toMicros(this.time.nanoTime());
	}

	@Override
	public void releasing(OwnerToken token) {
		this.releasing.put(token, false);
	}

	@Override
	public void retire(KeyLock lock) {
		this.locks.remove(lock.key(), lock);
	}

	@Override
	public void release(ReleaseRequest request, @Nullable KeyLock lock, boolean expectsMessage) {
		this.dispatcher.release(request, (lock != null) ? (result) -> {
			Boolean told = this.releasing.remove(request.token());
			if (expectsMessage && result instanceof ReleaseResult.Released && !Boolean.TRUE.equals(told)) {
				probeInbox();
			}
			lock.released(request.token());
		} : null);
	}

	@Override
	public void due(long at) {
		this.watchdog.due(at);
	}

	@Override
	public void renewed(Hold hold, RenewResult result, long left) {
		Renewal renewal = switch (result) {
			case RENEWED -> (left < hold.parameters().ttlNanos() / 3) ? Renewal.LATE : Renewal.RENEWED;
			case NOT_OWNER -> Renewal.REFUSED;
			case UNKNOWN -> Renewal.FAILED;
		};
		this.recording.add((to) -> to.renewed(hold.parameters().name(), renewal));
	}

	@Override
	public void lost(Hold hold, Cause cause, long now) {
		Hold.LossInterrupt interrupt = hold.lossInterrupt();
		if (interrupt != null) {
			interrupt(interrupt);
		}
		Duration heldFor = hold.heldFor(now);
		this.recording.add((to) -> to.ended(hold.parameters().name(), heldFor.toNanos()));
		reportLoss(hold, cause, heldFor);
	}

	/** On a thread of its own: an interrupt closes the channel that the thread reads. */
	private void interrupt(Hold.LossInterrupt interrupt) {
		try {
			this.ioThreads.execute(interrupt::send);
		}
		catch (RuntimeException | Error ex) {
			// an error too: the machine may be out of threads
			interrupt.send();
		}
	}

	/**
	 * Reports the loss of a hold whose end is recorded.
	 */
	void reportLoss(Hold hold, Cause cause, Duration heldFor) {
		LockParameters lock = hold.parameters();
		String reason = LockMessages.reason(cause);
		this.recording.add((to) -> to.lost(lock.name(), cause));
		this.events.execute(() -> LockMessages.about(logger.atWarn(), lock, hold.fencingToken())
			.log("{} was lost after {} (fencing token {}): {}. The work done under it may have overlapped the work"
					+ " of another holder", LockMessages.lock(lock), LockMessages.duration(heldFor),
					hold.fencingToken(), reason));
		this.events.publishAsync(
				new LockOccurrence.Lost(lock.key(), lock.name(), hold.fencingToken(), heldFor, cause, reason));
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
	public Duration lease(Duration ttl) {
		return this.client.traits().lease(ttl);
	}

	@Override
	public boolean isInformed() {
		return this.inbox.isPresent() && this.inbox.get().isConfirmed();
	}

	@Override
	public void openInbox() {
		this.registration.run();
		if (!isInformed()) {
			this.inbox.ifPresent(this::open);
		}
	}

	@Override
	public void probeInbox() {
		this.inbox.ifPresent(Inbox::probe);
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
		Ownership ownership = known(key, token);
		if (ownership == null) {
			this.releasing.replace(token, true);
		}
		else {
			ownership.granted(new Ownership.Grant(fencingToken, othersWait), this.time.nanoTime());
		}
	}

	@Override
	public void wanted(String key, OwnerToken token) {
		Ownership ownership = known(key, token);
		if (ownership != null) {
			ownership.wanted(this.time.nanoTime());
		}
	}

	private @Nullable Ownership known(String key, OwnerToken token) {
		if (!token.instance().equals(this.instance)) {
			return null;
		}
		KeyLock lock = this.locks.get(key);
		Ownership present = (lock != null) ? lock.read((ownership, waiting) -> ownership) : null;
		if (present != null && present.token().equals(token)) {
			return present;
		}
		// looked up last: a lock says that it releases before it drops the ownership
		if (!this.releasing.containsKey(token)) {
			this.dispatcher.release(new ReleaseRequest(key, token), null);
		}
		return null;
	}

	@Override
	public void opened() {
		for (KeyLock lock : this.locks.values()) {
			lock.attemptBy(this.time.nanoTime() + ThreadLocalRandom.current().nextLong(MAX_SPREAD_NANOS));
		}
	}

}
