package io.github.lockspring.engine;

import java.time.Duration;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockInterruptedException;
import io.github.lockspring.LockNotAcquiredException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.engine.Caller.Patience;

/**
 * Locks that belong to threads, for programs that want a {@link Lock}.
 * <p>
 * For maintainers: {@code owned} has an entry for each thread and key while that thread
 * holds it; only that thread ever touches its entry. The views have no state.
 */
final class ThreadLocks {

	private record Owner(Thread thread, String key) {
	}

	private static final class Owned {

		private final HeldLock lock;

		private int depth = 1;

		private Owned(HeldLock lock) {
			this.lock = lock;
		}

	}

	private final DefaultLockTemplate template;

	private final EngineSettings settings;

	private final ConcurrentHashMap<Owner, Owned> owned = new ConcurrentHashMap<>();

	ThreadLocks(DefaultLockTemplate template, EngineSettings settings) {
		this.template = template;
		this.settings = settings;
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
				try {
					own(withoutBound(true));
				}
				catch (LockInterruptedException ex) {
					throw interrupted(ex);
				}
			}
		}

		@Override
		public boolean tryLock() {
			return reenter() || tryOwn(new Patience(now(), true, Time.FOREVER, false, false));
		}

		@Override
		public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
			checkInterrupt();
			if (reenter()) {
				return true;
			}
			long nanos = Math.min(unit.toNanos(time), Time.FOREVER);
			try {
				return tryOwn(new Patience(now() + Math.max(0, nanos), nanos <= 0, Time.FOREVER, true, false));
			}
			catch (LockInterruptedException ex) {
				throw interrupted(ex);
			}
		}

		private Patience withoutBound(boolean interruptible) {
			ThreadLocks.this.template.refuseOwn(this.key);
			Duration longest = ThreadLocks.this.settings.waitTime();
			return new Patience(now() + Time.FOREVER, false, longest.toNanos(), interruptible, false);
		}

		private long now() {
			return ThreadLocks.this.template.now();
		}

		private boolean tryOwn(Patience patience) {
			try {
				own(patience);
				return true;
			}
			catch (LockNotAcquiredException ex) {
				return false;
			}
		}

		private void own(Patience patience) {
			HeldLock lock = ThreadLocks.this.template.acquire(this.request, patience);
			ThreadLocks.this.owned.put(me(), new Owned(lock));
		}

		private boolean reenter() {
			Owned mine = ThreadLocks.this.owned.get(me());
			if (mine == null) {
				return false;
			}
			mine.lock.ensureHeld();
			mine.depth++;
			return true;
		}

		@Override
		public void unlock() {
			Owned mine = ThreadLocks.this.owned.get(me());
			if (mine == null) {
				throw new IllegalMonitorStateException(
						"Lock '" + this.key + "' is not held by thread " + Thread.currentThread().getName());
			}
			if (--mine.depth == 0) {
				ThreadLocks.this.owned.remove(me());
				mine.lock.close();
			}
		}

		private Owner me() {
			return new Owner(Thread.currentThread(), this.key);
		}

		private static void checkInterrupt() throws InterruptedException {
			if (Thread.interrupted()) {
				throw new InterruptedException();
			}
		}

		/** The convention of this interface: the exception instead of the flag. */
		private static InterruptedException interrupted(LockInterruptedException ex) {
			Thread.interrupted();
			InterruptedException interrupted = new InterruptedException(ex.getMessage());
			interrupted.initCause(ex);
			return interrupted;
		}

		@Override
		public Condition newCondition() {
			throw new UnsupportedOperationException("A distributed lock has no conditions");
		}

		@Override
		public String toString() {
			Owned mine = ThreadLocks.this.owned.get(me());
			return "Lock '" + this.key + "'" + ((mine != null) ? " held by this thread" : "");
		}

	}

}
