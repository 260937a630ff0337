package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

import io.github.lockspring.LockEvent;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.engine.support.EngineThreads;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder;
import io.github.lockspring.internal.engine.support.StoreClient;
import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.InstanceInfo;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStoreInspector;
import io.github.lockspring.store.StoreHealth;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds locks in a {@link LockStore} for one instance of an application. Has no thread
 * before the first lock, and sends nothing while no lock is held or waited for; an inbox
 * that was opened stays open. Does not close the store: close it after the engine.
 * Thread-safe.
 *
 * @since 0.1
 */
/*
 * For maintainers: a registry is one instance, with an identity of its own that is part
 * of its owner tokens. It is created by the first call that needs one, and its stop is
 * final: `start` drops it, and what was under way in it ends without a lock. So an image
 * of the process that was taken between a stop and a start, or before the first lock,
 * contains no identity, and may be restored any number of times.
 */
public final class LockEngine implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LockEngine.class);

	private static final long CHECK_INTERVAL_NANOS = 5_000_000;

	private final LockStore store;

	private final Function<EngineThreads.Executors, KeyLockRegistry> newRegistry;

	/** Null until it is needed. Written under the monitor of this engine. */
	private volatile @Nullable KeyLockRegistry registry;

	private final DefaultLockTemplate template;

	private final EngineThreads threads = new EngineThreads();

	/**
	 * Creates an engine that is ready to be used.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listener receives the events, or {@link LockEvents#NOBODY}
	 */
	public LockEngine(LockStore store, EngineSettings settings, Consumer<LockEvent> listener) {
		this(store, settings, listener, UnitOfWork.NONE, LockRecorder.NONE, null);
	}

	/**
	 * Creates an engine whose locks may belong to units of work, with measurements, and
	 * with a description for other instances.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listener receives the events, or {@link LockEvents#NOBODY}
	 * @param unitOfWork provides the unit of work, if any, that owns a call's locks
	 * @param recorder receives the measurements
	 * @param description describes this instance to others; may block, and is called on a
	 * thread of the engine; null: others see its identity only
	 */
	public LockEngine(LockStore store, EngineSettings settings, Consumer<LockEvent> listener, UnitOfWork unitOfWork,
			LockRecorder recorder, @Nullable Supplier<InstanceInfo> description) {
		this(store, settings, listener, unitOfWork, recorder, description, Time.SYSTEM);
	}

	/**
	 * Creates an engine with a clock of its own, for tests.
	 * @param store where the locks are
	 * @param settings the settings
	 * @param listener receives the events, or {@link LockEvents#NOBODY}
	 * @param unitOfWork provides the unit of work, if any, that owns a call's locks
	 * @param recorder receives the measurements
	 * @param description describes this instance to others, or null
	 * @param time the clock
	 */
	public LockEngine(LockStore store, EngineSettings settings, Consumer<LockEvent> listener, UnitOfWork unitOfWork,
			LockRecorder recorder, @Nullable Supplier<InstanceInfo> description, Time time) {
		this(store,
				(executors) -> new KeyLockRegistry(store, settings, listener, recorder, description, time, executors),
				unitOfWork);
	}

	/** Creates an engine whose instances may have a clock and threads of a test. */
	LockEngine(LockStore store, Function<EngineThreads.Executors, KeyLockRegistry> newRegistry, UnitOfWork unitOfWork) {
		this.store = store;
		this.newRegistry = newRegistry;
		this.template = new DefaultLockTemplate(this::registry, unitOfWork);
	}

	/**
	 * Returns the present instance.
	 */
	KeyLockRegistry registry() {
		KeyLockRegistry present = this.registry;
		return (present != null) ? present : newInstance();
	}

	private synchronized KeyLockRegistry newInstance() {
		KeyLockRegistry present = this.registry;
		if (present == null) {
			present = this.newRegistry.apply(this.threads.executors());
			this.registry = present;
		}
		return present;
	}

	/**
	 * Returns the template that acquires locks.
	 * @return the template, always the same one
	 */
	public LockTemplate template() {
		return this.template;
	}

	/**
	 * Makes the engine usable again after {@link #stop()}, as another instance: with an
	 * identity and an inbox of its own. Lets the store connect in the background.
	 */
	public void start() {
		this.threads.keepIdle(true);
		synchronized (this) {
			KeyLockRegistry present = this.registry;
			if (present != null && present.isStopped()) {
				this.registry = null;
			}
			else if (present != null) {
				present.setClosing(false);
			}
		}
		StoreClient.connect(this.store);
	}

	/**
	 * Ends all waiting: from now on free locks are acquired, and others are busy at once,
	 * also for those who wait now.
	 */
	public void stopWaiting() {
		registry().setClosing(true);
	}

	/**
	 * Stops: waiting ends; work under a lock may end within the shutdown timeout; what is
	 * then still held is released and counts as lost. Returns within the shutdown timeout
	 * and three command timeouts, however many locks are held, without threads of the
	 * engine. Does nothing the second time.
	 */
	public void stop() {
		KeyLockRegistry stopping = registry();
		if (stopping.isStopped()) {
			return;
		}
		// first: those who wait would become holders, for whom the next step waits
		stopping.setClosing(true);
		// before anything is taken away: work under a lock gets its time to end
		await(stopping, stopping::isIdle, stopping.settings().shutdownTimeout());
		List<String> held = stopping.stop();
		if (!held.isEmpty()) {
			logger.warn("{} lock(s) were still held when the application stopped and are released now, '{}' among them",
					held.size(), held.get(0));
		}
		// before the inbox closes: a store may hand over to this instance until then
		awaitReleases(stopping);
		stopping.closeInbox();
		// after all that reports: losses, the answers of releases, messages
		await(stopping, stopping.events()::isIdle, stopping.settings().commandTimeout());
		// after all that waits for answers: it repeats and ends what has none
		stopping.watchdog().stop();
		// last: nothing needs the threads any more
		this.threads.keepIdle(false);
	}

	/**
	 * Until all are answered or refused, or one command timeout brings no answer, and for
	 * two of them at most. The answer of an attempt may cause a release too.
	 */
	private void awaitReleases(KeyLockRegistry stopping) {
		Releases releases = stopping.releases();
		long timeout = stopping.settings().commandTimeout().toNanos();
		long end = stopping.time().nanoTime() + 2 * timeout;
		int left;
		do {
			left = releases.size();
			int before = left;
			long longest = Math.min(timeout, end - stopping.time().nanoTime());
			await(stopping, () -> !stopping.isAnswerAwaited() && (releases.size() < before || releases.areHopeless()),
					Duration.ofNanos(longest));
		}
		while (releases.size() < left && stopping.time().nanoTime() - end < 0);
	}

	private void await(KeyLockRegistry stopping, BooleanSupplier condition, Duration longest) {
		Time time = stopping.time();
		long end = time.nanoTime() + longest.toNanos();
		while (!condition.getAsBoolean() && time.nanoTime() - end < 0 && !Thread.currentThread().isInterrupted()) {
			time.park(this, CHECK_INTERVAL_NANOS);
		}
	}

	// what is shown to people

	/**
	 * A key that this instance holds or waits for, as it was at one moment.
	 *
	 * @param key the key
	 * @param hold how it is held; null if it is not
	 * @param waiting how many callers of this instance wait for it
	 */
	public record LocalLock(String key, @Nullable LocalHold hold, int waiting) {
	}

	/**
	 * How this instance holds a lock.
	 *
	 * @param name the label of the request, or null
	 * @param fencingToken the fencing token
	 * @param heldFor time since the acquisition
	 * @param remaining time until the lease ends unless it is renewed
	 * @param renewals how often the lease was renewed since this instance owns the lock
	 * @param thread the thread that acquired it; others may work under it too
	 * @param unitOfWork whether it is kept until the end of a transaction
	 */
	public record LocalHold(@Nullable String name, long fencingToken, Duration heldFor, Duration remaining,
			int renewals, @Nullable Thread thread, boolean unitOfWork) {
	}

	/**
	 * Returns whether there is an instance: whether a lock was requested or released by
	 * force since the start, or its waiting or the engine was stopped.
	 * @return false as long as nothing of that has happened; at most the store was
	 * connected then
	 */
	public boolean isUsed() {
		return this.registry != null;
	}

	/**
	 * Returns the keys that this instance holds or waits for, in no order. Looks at one
	 * lock after the other, and stops none.
	 * @return the keys; empty as long as the engine is not used
	 */
	public List<LocalLock> locks() {
		KeyLockRegistry present = this.registry;
		List<LocalLock> locks = new ArrayList<>();
		if (present != null) {
			present.locks().forEach((lock) -> locks.add(describe(lock, present.time().nanoTime())));
		}
		return locks;
	}

	/**
	 * Returns what this instance holds of one key.
	 * @param key the key
	 * @return empty if it neither holds the lock nor waits for it
	 */
	public Optional<LocalLock> lock(String key) {
		KeyLockRegistry present = this.registry;
		KeyLock lock = (present != null) ? present.present(key) : null;
		return (present != null && lock != null) ? Optional.of(describe(lock, present.time().nanoTime()))
				: Optional.empty();
	}

	private static LocalLock describe(KeyLock lock, long now) {
		return lock.read((state, waiting) -> {
			LocalHold held = (state instanceof Held hold) ? describe(hold, now) : null;
			return new LocalLock(lock.key(), held, waiting);
		});
	}

	private static LocalHold describe(Held hold, long now) {
		return new LocalHold(hold.parameters().name(), hold.fencingToken(), hold.heldFor(now),
				Duration.ofNanos(Math.max(0, hold.expiry() - now)), hold.lease.renewals(), hold.thread(),
				hold.isKept());
	}

	/**
	 * Returns the inspector of the store.
	 * @return empty as long as the engine is not used, and if the store has no inspector
	 */
	public Optional<LockStoreInspector> inspector() {
		return isUsed() ? this.store.inspector() : Optional.empty();
	}

	/**
	 * The state of the store and of the messages to this instance.
	 *
	 * @param store the health of its servers
	 * @param inbox whether messages arrive; null as long as this instance has not had to
	 * wait for a lock
	 */
	public record EngineHealth(StoreHealth store, @Nullable Boolean inbox) {
	}

	/**
	 * Checks the store, without a lock.
	 * @return empty as long as the engine is not used, and if the store cannot be checked
	 */
	public Optional<EngineHealth> health() {
		KeyLockRegistry present = this.registry;
		if (present == null) {
			return Optional.empty();
		}
		return this.store.health(present.client().commandTimeout())
			.map((health) -> new EngineHealth(health, present.inboxState().orElse(null)));
	}

	/**
	 * Takes a lock away from its owner, in this instance or another. A holder in this
	 * instance learns of the loss at once, one in another at its next renewal or at the
	 * release. Its work goes on: so this is for an owner that is known to be dead.
	 * @param key the key
	 * @return whether it was held, and is not any more
	 * @throws LockUnavailableException if the store gives no result
	 * @throws UnsupportedOperationException if the lock is held elsewhere and the store
	 * cannot release it
	 */
	public boolean forceRelease(String key) {
		KeyLockRegistry present = registry();
		Duration timeout = present.client().commandTimeout();
		KeyLock lock = present.present(key);
		Release release = (lock != null) ? lock.force(present.time().nanoTime()) : null;
		if (release != null) {
			present.client().join(release.firstTry(), key, timeout);
			return true;
		}
		LockStoreInspector inspector = inspector().orElseThrow(() -> new UnsupportedOperationException(
				"Lock '" + key + "' is not held by this instance, and the store cannot release it"));
		return inspector.find(key, timeout).filter((seen) -> inspector.forceRelease(seen, timeout)).isPresent();
	}

	/**
	 * As {@link #stop()}.
	 */
	@Override
	public void close() {
		stop();
	}

	@Override
	public String toString() {
		KeyLockRegistry present = this.registry;
		return "LockEngine[" + ((present != null) ? present.instance() : "not used yet") + "]";
	}

}
