package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.locks.Lock;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockCallback;
import io.github.lockspring.LockException;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockTemplate;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.OnLost;
import io.github.lockspring.internal.UnitOfWork;
import io.github.lockspring.internal.base.CallChain;
import io.github.lockspring.internal.engine.Waiter.WaitOptions;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.internal.engine.support.LockRecorder.Outcome;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires the locks of a request, key by key in their order, runs the work, and releases
 * them. Thread-safe.
 */
final class DefaultLockTemplate implements LockTemplate {

	private static final Logger logger = LoggerFactory.getLogger(DefaultLockTemplate.class);

	private final Supplier<KeyLockRegistry> registry;

	private final ThreadLocks threadLocks;

	private final UnitOfWork unitOfWork;

	private final ReentryWarnings reentryWarnings = new ReentryWarnings();

	/**
	 * Creates a template.
	 * @param registry the present instance
	 * @param unitOfWork provides the unit of work, if any, that owns a call's locks
	 */
	DefaultLockTemplate(Supplier<KeyLockRegistry> registry, UnitOfWork unitOfWork) {
		this.registry = registry;
		this.unitOfWork = unitOfWork;
		this.threadLocks = new ThreadLocks(registry, this);
	}

	@Override
	@SuppressWarnings("try")
	public <T extends @Nullable Object, X extends Throwable> T execute(LockRequest request, LockCallback<T, X> work)
			throws X {
		Objects.requireNonNull(work, "work");
		LockAcquisition acquisition = acquireAll(request, options(request), true, this.unitOfWork.isActive());
		T result;
		try (CallChain.Scope scope = acquisition.openScope()) {
			acquisition.armInterrupts();
			result = work.doUnderLock(acquisition.lock());
		}
		catch (Throwable ex) {
			LockLostException lost = acquisition.endAfter(ex, false);
			if (lost != null) {
				ex.addSuppressed(lost);
			}
			throw ex;
		}
		LockLostException lost = acquisition.end(false, false);
		if (lost != null) {
			throw lost;
		}
		return result;
	}

	@Override
	public HeldLock acquire(LockRequest request) {
		if (request.onLost() == OnLost.INTERRUPT) {
			throw new IllegalArgumentException("OnLost.INTERRUPT needs to know which thread works under the lock"
					+ " and when it ends: use execute, or an annotated method");
		}
		return acquire(request, options(request), false);
	}

	/**
	 * Acquires the locks of a request.
	 * @param bound whether only the present thread can end them
	 */
	HeldLock acquire(LockRequest request, WaitOptions options, boolean bound) {
		LockAcquisition acquisition = acquireAll(request, options, false, false);
		try {
			acquisition.newLocks().forEach((lock) -> lock.openedBy(Thread.currentThread(), bound));
			return acquisition.lock();
		}
		catch (Throwable ex) {
			acquisition.endAfter(ex, true);
			throw ex;
		}
	}

	@Override
	public Optional<HeldLock> tryAcquire(LockRequest request) {
		try {
			return Optional.of(acquire(request));
		}
		catch (LockNotAcquiredException ex) {
			return Optional.empty();
		}
	}

	@Override
	public Lock asLock(String key) {
		return this.threadLocks.lock(key);
	}

	private WaitOptions options(LockRequest request) {
		KeyLockRegistry present = registry();
		Duration waitTime = request.waitTime();
		long nanos = ((waitTime != null) ? waitTime : present.settings().waitTime()).toNanos();
		return WaitOptions.within(present.time().nanoTime(), nanos, true, request.keys().size() > 1);
	}

	/**
	 * Acquires the locks of a request.
	 * @param reenter whether locks that the call chain holds are entered again
	 * @param outlasting whether the locks belong to the present unit of work
	 */
	private LockAcquisition acquireAll(LockRequest request, WaitOptions wait, boolean reenter, boolean outlasting) {
		KeyLockRegistry present = registry();
		present.checkRunning();
		long start = present.time().nanoTime();
		// nobody waits for a lock while the store connects
		WaitOptions options = wait.later(present.client().awaitConnection());
		LockAcquisition acquisition = new LockAcquisition();
		try {
			for (String key : request.keys()) {
				DefaultHeldLock outer = reenter ? DefaultHeldLock.ofCallChain(present, key) : null;
				LockParameters parameters = LockParameters.of(key, request, present.settings(),
						present.client().traits());
				if (outer != null) {
					this.reentryWarnings.entered(request, parameters, outer);
					acquisition.reenter(outer);
				}
				else if (acquisition.isEmpty() || !isOver(options, present)) {
					acquireKey(acquisition, present, parameters, options, start);
				}
				else {
					throw notAcquired(present, parameters, acquisition.outOfTime(request), options, start);
				}
			}
			if (options.deferred()) {
				acquisition.begin();
			}
			if (outlasting) {
				acquisition.belongTo(this.unitOfWork);
			}
		}
		catch (Throwable ex) {
			// the caller has waited long enough
			acquisition.endAfter(ex, ex instanceof LockUnavailableException || isOver(options, present));
			throw ex;
		}
		return acquisition;
	}

	private static boolean isOver(WaitOptions options, KeyLockRegistry registry) {
		return registry.time().nanoTime() - options.until() >= 0;
	}

	private static void acquireKey(LockAcquisition acquisition, KeyLockRegistry registry, LockParameters parameters,
			WaitOptions options, long start) {
		ThreadWaiter waiter = new ThreadWaiter(registry, parameters, options);
		try {
			Waiter.Outcome outcome = waiter.await();
			if (!(outcome instanceof Held hold)) {
				throw notAcquired(registry, parameters, (AcquireFailure) outcome, options, start);
			}
			acquisition.add(acquired(registry, hold, start));
		}
		catch (Throwable ex) {
			waiter.dies();
			throw ex;
		}
	}

	/**
	 * Acquires the lock of one key as a future. The wait time includes the first
	 * connection of the store.
	 * @param request a request for one key
	 * @param executor completes the future
	 */
	CompletableFuture<HeldLock> acquireAsync(LockRequest request, Executor executor) {
		KeyLockRegistry present = registry();
		present.checkRunning();
		LockParameters parameters = LockParameters.of(request.keys().get(0), request, present.settings(),
				present.client().traits());
		return new FutureWaiter(present, parameters, options(request), executor).start();
	}

	static DefaultHeldLock acquired(KeyLockRegistry registry, Held hold, long start) {
		LockParameters lock = hold.parameters();
		Duration waited = since(registry, start);
		record(registry, lock, Outcome.ACQUIRED, waited);
		registry.events().publish(new LockEvents.Acquired(lock.key(), lock.name(), hold.fencingToken(), waited));
		return new DefaultHeldLock(registry, hold);
	}

	static LockException notAcquired(KeyLockRegistry registry, LockParameters lock, AcquireFailure failure,
			WaitOptions options, long start) {
		Duration waited = since(registry, start);
		if (failure instanceof AcquireFailure.Unavailable unavailable) {
			LockUnavailableException cause = unavailable.cause();
			record(registry, lock, Outcome.UNAVAILABLE, waited);
			registry.events().publish(new LockEvents.Unavailable(lock.key(), lock.name(), waited, cause));
			return new LockUnavailableException(lock.key(),
					LockMessages.notRequested(lock, waited, registry.isStopped(), cause), cause);
		}
		if (failure instanceof AcquireFailure.Busy busy) {
			record(registry, lock, Outcome.BUSY, waited);
			registry.events().publish(new LockEvents.NotAcquired(lock.key(), lock.name(), waited));
			return new LockNotAcquiredException(lock.key(), LockMessages.notAcquired(lock, options.once(), waited,
					busy.detail() + holder(registry, lock.key(), busy, options)));
		}
		record(registry, lock, Outcome.INTERRUPTED, waited);
		return new LockInterruptedException(lock.key(), LockMessages.interrupted(lock, waited));
	}

	private static void record(KeyLockRegistry registry, LockParameters lock, Outcome outcome, Duration waited) {
		registry.events().record((to) -> to.requested(lock.name(), outcome, waited.toNanos()));
	}

	/** Names the holder, if somebody has waited for it in vain: that costs a request. */
	private static String holder(KeyLockRegistry registry, String key, AcquireFailure.Busy busy, WaitOptions options) {
		if (options.once() || !busy.elsewhere() || registry.isStopped()) {
			return "";
		}
		return registry.instances().owner(key).map((owner) -> {
			logger.debug("Lock '{}' is held by {}", key, owner.info());
			return LockMessages.heldBy(owner.info(), owner.age());
		}).orElse("");
	}

	private KeyLockRegistry registry() {
		return this.registry.get();
	}

	private static Duration since(KeyLockRegistry registry, long start) {
		return Duration.ofNanos(registry.time().nanoTime() - start);
	}

}
