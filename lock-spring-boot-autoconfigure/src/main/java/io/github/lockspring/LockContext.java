package io.github.lockspring;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import org.jspecify.annotations.Nullable;

/**
 * The locks that the present call chain holds. A call chain is what one thread runs
 * inside an annotated method or {@link LockTemplate#execute}; work handed to another
 * thread, and work that later runs on the same thread, inherit nothing.
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	private LockContext() {
	}

	/**
	 * The locks that the present call chain holds, innermost first; each key has an entry
	 * of its own.
	 * @return an unmodifiable snapshot, empty outside a lock
	 */
	public static List<HeldLock> currentLocks() {
		Scope scope = CURRENT.get();
		if (scope == null) {
			return List.of();
		}
		List<HeldLock> locks = new ArrayList<>();
		for (; scope != null; scope = scope.outer) {
			locks.addAll(scope.locks);
		}
		return Collections.unmodifiableList(locks);
	}

	/**
	 * The innermost lock with this key that the present call chain holds.
	 * @param key the key, without the store's prefix
	 * @return the lock, or empty
	 */
	public static Optional<HeldLock> current(String key) {
		Objects.requireNonNull(key, "key");
		for (Scope scope = CURRENT.get(); scope != null; scope = scope.outer) {
			for (HeldLock lock : scope.locks) {
				if (lock.key().equals(key)) {
					return Optional.of(lock);
				}
			}
		}
		return Optional.empty();
	}

	/**
	 * Makes a lock part of the present thread's call chain until the scope is closed, on
	 * the same thread. {@link LockTemplate#execute} does this; a program needs it only to
	 * take a {@link LockTemplate#acquire handle} into a call chain, or across threads.
	 * @param lock the lock; it must outlive the scope
	 * @return the scope to close
	 */
	public static Scope open(HeldLock lock) {
		Scope scope = new Scope(lock.locks(), CURRENT.get());
		CURRENT.set(scope);
		return scope;
	}

	/**
	 * A stretch of a call chain in which a lock is held.
	 */
	public static final class Scope implements AutoCloseable {

		private final List<HeldLock> locks;

		private final @Nullable Scope outer;

		private Scope(List<HeldLock> locks, @Nullable Scope outer) {
			this.locks = locks;
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

}
