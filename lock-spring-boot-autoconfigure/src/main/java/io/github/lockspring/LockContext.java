package io.github.lockspring;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

import org.jspecify.annotations.Nullable;

/**
 * The locks that the present call chain holds. A call chain is what one thread runs
 * inside an annotated method or {@link LockTemplate#execute}; work handed to another
 * thread, and work that later runs on the same thread, inherit nothing. Locks that belong
 * to a {@link UnitOfWork} of the thread are part of it until that is complete.
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	/** Locks that outlast the calls that took them, in the order in which they came. */
	private static final ThreadLocal<@Nullable List<HeldLock>> ATTACHED = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * The locks that the present call chain holds, innermost first, then those that
	 * belong to a unit of work, latest first; each key has an entry of its own.
	 * @return an unmodifiable snapshot, empty outside a lock
	 */
	public static List<HeldLock> currentLocks() {
		Scope scope = CURRENT.get();
		List<HeldLock> attached = ATTACHED.get();
		if (scope == null && attached == null) {
			return List.of();
		}
		Set<HeldLock> locks = new LinkedHashSet<>();
		for (; scope != null; scope = scope.outer) {
			locks.addAll(scope.locks);
		}
		if (attached != null) {
			List<HeldLock> latestFirst = new ArrayList<>(attached);
			Collections.reverse(latestFirst);
			locks.addAll(latestFirst);
		}
		return List.copyOf(locks);
	}

	/**
	 * The innermost lock with this key that the present call chain holds.
	 * @param key the key, without the store's prefix
	 * @return the lock, or empty
	 */
	public static Optional<HeldLock> current(String key) {
		Objects.requireNonNull(key, "key");
		for (HeldLock lock : currentLocks()) {
			if (lock.key().equals(key)) {
				return Optional.of(lock);
			}
		}
		return Optional.empty();
	}

	/**
	 * What the innermost annotated method, {@link LockTemplate#execute} or open scope
	 * that is under way was given: of several keys the lock that stands for all of them,
	 * and of a lock that was entered again that lock.
	 * @return the lock, or empty outside of all of them
	 */
	public static Optional<HeldLock> innermost() {
		Scope scope = CURRENT.get();
		return (scope != null) ? Optional.of(scope.lock) : Optional.empty();
	}

	/**
	 * Makes a lock part of the present thread's call chain until the scope is closed, on
	 * the same thread. {@link LockTemplate#execute} does this; a program needs it only to
	 * take a {@link LockTemplate#acquire handle} into a call chain, or across threads.
	 * @param lock the lock; it must outlive the scope
	 * @return the scope to close
	 */
	public static Scope open(HeldLock lock) {
		Scope scope = new Scope(lock, CURRENT.get());
		CURRENT.set(scope);
		return scope;
	}

	/**
	 * Makes a lock part of the present thread's call chain until the attachment is
	 * closed, whatever scopes are opened and closed meanwhile.
	 * {@link LockTemplate#execute} does this with what belongs to a {@link UnitOfWork}.
	 * @param lock the lock; it must outlive the attachment
	 * @return the attachment, which any thread may close
	 */
	public static Attachment attach(HeldLock lock) {
		List<HeldLock> attached = ATTACHED.get();
		if (attached == null) {
			attached = new CopyOnWriteArrayList<>();
			ATTACHED.set(attached);
		}
		attached.addAll(lock.locks());
		return new Attachment(lock.locks(), attached);
	}

	/**
	 * A stretch of a call chain in which a lock is held.
	 */
	public static final class Scope implements AutoCloseable {

		private final HeldLock lock;

		private final List<HeldLock> locks;

		private final @Nullable Scope outer;

		private Scope(HeldLock lock, @Nullable Scope outer) {
			this.lock = lock;
			this.locks = lock.locks();
			this.outer = outer;
		}

		/**
		 * Ends the scope, and with it those inside it that were not closed.
		 * @throws IllegalStateException if it was not the innermost one of this thread
		 */
		@Override
		public void close() {
			Scope innermost = CURRENT.get();
			for (Scope scope = innermost; scope != null; scope = scope.outer) {
				if (scope == this) {
					end();
				}
			}
			if (innermost != this) {
				throw new IllegalStateException(
						"A lock scope must be closed on the thread that opened it, innermost first");
			}
		}

		private void end() {
			if (this.outer == null) {
				CURRENT.remove();
			}
			else {
				CURRENT.set(this.outer);
			}
		}

	}

	/**
	 * The time during which a lock belongs to a thread's unit of work.
	 */
	public static final class Attachment implements AutoCloseable {

		private final List<HeldLock> locks;

		private final List<HeldLock> attached;

		private Attachment(List<HeldLock> locks, List<HeldLock> attached) {
			this.locks = locks;
			this.attached = attached;
		}

		/**
		 * Ends the attachment. Does nothing the second time.
		 */
		@Override
		public void close() {
			this.attached.removeAll(this.locks);
			if (this.attached.isEmpty() && ATTACHED.get() == this.attached) {
				ATTACHED.remove();
			}
		}

	}

}
