package io.github.lockspring.internal.engine;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.base.LockOptions;
import io.github.lockspring.internal.engine.Waiter.WaitOptions;
import org.jspecify.annotations.Nullable;

/**
 * Locks that belong to threads, for programs that need a {@link Lock}.
 */
/*
 * For maintainers: `owned` has what each thread holds, and goes with the thread. A thread
 * that holds nothing keeps an empty map, which refers to nothing of the application. The
 * watchdog ends the lock of a thread that has ended. The views have no state.
 */
final class ThreadLocks {

	private static final long MAX_WAIT_NANOS = LockOptions.MAX_DURATION.toNanos();

	private static final class Owned {

		private final HeldLock lock;

		private int depth = 1;

		private Owned(HeldLock lock) {
			this.lock = lock;
		}

	}

	private final Supplier<KeyLockRegistry> registry;

	private final DefaultLockTemplate template;

	private final ThreadLocal<Map<String, Owned>> owned = ThreadLocal.withInitial(HashMap::new);

	/**
	 * Creates the locks of an engine.
	 * @param registry the present instance
	 * @param template acquires them
	 */
	ThreadLocks(Supplier<KeyLockRegistry> registry, DefaultLockTemplate template) {
		this.registry = registry;
		this.template = template;
	}

	Lock lock(String key) {
		return new View(LockRequest.of(key), key);
	}

	private final class View implements Lock {

		private final LockRequest request;

		private final String key;

		private View(LockRequest request, String key) {
			this.request = request;
			this.key = key;
		}

		@Override
		public void lock() {
			if (!reenter()) {
				own(withoutBound(false));
			}
		}

		@Override
		public void lockInterruptibly() throws InterruptedException {
			checkInterrupt();
			if (!reenter()) {
				interruptibly(() -> own(withoutBound(true)));
			}
		}

		@Override
		public boolean tryLock() {
			return reenter() || tryOwn(0, false);
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
			checkInterrupt();
			long nanos = Math.min(unit.toNanos(time), MAX_WAIT_NANOS);
			return reenter() || interruptibly(() -> tryOwn(nanos, true));
		}

		/** Follows the convention of this interface: an exception instead of the flag. */
		private static boolean interruptibly(BooleanSupplier acquiring) throws InterruptedException {
			try {
				return acquiring.getAsBoolean();
			}
			catch (LockInterruptedException ex) {
				Thread.interrupted();
				InterruptedException interrupted = new InterruptedException(ex.getMessage());
				interrupted.initCause(ex);
				throw interrupted;
			}
		}

		private WaitOptions withoutBound(boolean interruptible) {
			KeyLockRegistry present = ThreadLocks.this.registry.get();
			if (DefaultHeldLock.ofCallChain(present, this.key) != null) {
				throw new IllegalStateException(LockMessages.reentryWithoutEnd(this.key));
			}
			return WaitOptions.unbounded(present.time().nanoTime(), present.settings().waitTime().toNanos(),
					interruptible);
		}

		private boolean tryOwn(long nanos, boolean interruptible) {
			long now = ThreadLocks.this.registry.get().time().nanoTime();
			try {
				return own(WaitOptions.within(now, nanos, interruptible, false));
			}
			catch (LockNotAcquiredException ex) {
				return false;
			}
		}

		private boolean own(WaitOptions options) {
			HeldLock lock = ThreadLocks.this.template.acquire(this.request, options, true);
			ThreadLocks.this.owned.get().put(this.key, new Owned(lock));
			return true;
		}

		private boolean reenter() {
			Owned mine = mine();
			if (mine == null) {
				return false;
			}
			mine.lock.ensureHeld();
			mine.depth++;
			return true;
		}

		@Override
		public void unlock() {
			Owned mine = mine();
			if (mine == null) {
				throw new IllegalMonitorStateException(
						"Lock '" + this.key + "' is not held by thread " + Thread.currentThread().getName());
			}
			if (--mine.depth == 0) {
				ThreadLocks.this.owned.get().remove(this.key);
				mine.lock.close();
			}
		}

		/** The lock that the present thread holds; null if it does not hold it. */
		private @Nullable Owned mine() {
			return ThreadLocks.this.owned.get().get(this.key);
		}

		private static void checkInterrupt() throws InterruptedException {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}

		@Override
		public Condition newCondition() {
			throw new UnsupportedOperationException("A distributed lock has no conditions");
		}

		@Override
		public String toString() {
			Owned mine = mine();
			return "Lock '" + this.key + "'" + ((mine != null) ? " held by this thread" : "");
		}

	}

}
