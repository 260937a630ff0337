package io.github.lockspring;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * Knows the locks that the current call chain holds. A call chain is what one thread runs
 * inside an annotated method or {@link LockTemplate#execute}; work handed to another
 * thread, and work that later runs on the same thread, inherit nothing. Locks that belong
 * to a {@link UnitOfWork} of the thread are part of it until that is complete.
 *
 * @since 0.1
 */
public final class LockContext {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	/** What outlasts the calls that took it, oldest first. */
	private static final ThreadLocal<@Nullable List<Attachment>> ATTACHED = new ThreadLocal<>();

	/** Numbers attachments, of all threads. */
	private static final AtomicLong NUMBERS = new AtomicLong();

	private LockContext() {
	}

	/**
	 * Returns the locks that the current call chain holds, innermost first, then those
	 * that belong to a unit of work, latest first; each key has its own entry.
	 * @return an unmodifiable snapshot, empty outside a lock
	 */
	public static List<HeldLock> currentLocks() {
		Scope scope = CURRENT.get();
		List<Attachment> attached = ATTACHED.get();
		if (scope == null && attached == null) {
			return List.of();
		}
		Set<HeldLock> locks = new LinkedHashSet<>();
		for (; scope != null; scope = scope.outer) {
			locks.addAll(scope.locks);
		}
		if (attached != null) {
			List<Attachment> latestFirst = new ArrayList<>(attached);
			Collections.reverse(latestFirst);
			latestFirst.forEach((attachment) -> locks.addAll(attachment.locks));
		}
		return List.copyOf(locks);
	}

	/**
	 * Returns the innermost lock with this key that the current call chain holds.
	 * @param key the key, without the store's prefix
	 * @return the lock, or empty
	 */
	public static Optional<HeldLock> current(String key) {
		Objects.requireNonNull(key, "key");
		return currentLocks().stream().filter((lock) -> lock.key().equals(key)).findFirst();
	}

	/**
	 * Returns the lock of the innermost annotated method, {@link LockTemplate#execute} or
	 * open scope that is running. If that took several keys, the lock represents all of
	 * them.
	 * @return the lock, or empty outside of all scopes
	 */
	public static Optional<HeldLock> current() {
		Scope scope = CURRENT.get();
		return (scope != null) ? Optional.of(scope.lock) : Optional.empty();
	}

	/**
	 * Returns the locks of the innermost annotated method, {@link LockTemplate#execute}
	 * or open scope that is running, re-entered or not, and those that calls inside of it
	 * have left to a unit of work. Outside of all scopes these are all locks that belong
	 * to units of work.
	 * @return an unmodifiable snapshot in the order in which they were taken
	 */
	public static List<HeldLock> innermostLocks() {
		Scope scope = CURRENT.get();
		List<Attachment> attached = ATTACHED.get();
		if (attached == null) {
			return (scope != null) ? List.copyOf(scope.locks) : List.of();
		}
		Set<HeldLock> locks = new LinkedHashSet<>((scope != null) ? scope.locks : List.of());
		for (Attachment attachment : attached) {
			if (scope == null || attachment.number > scope.lastAttached) {
				locks.addAll(attachment.locks);
			}
		}
		return List.copyOf(locks);
	}

	/**
	 * Makes a lock part of the current thread's call chain until the scope is closed, on
	 * the same thread. {@link LockTemplate#execute} does this; a program needs it only to
	 * add a {@link LockTemplate#acquire handle} to a call chain, or across threads.
	 * @param lock the lock; it must outlive the scope
	 * @return the scope to close
	 */
	public static Scope open(HeldLock lock) {
		Scope scope = new Scope(lock, CURRENT.get());
		CURRENT.set(scope);
		return scope;
	}

	/**
	 * Makes a lock part of the current thread's call chain until the attachment is
	 * closed, whatever scopes are opened and closed meanwhile.
	 * {@link LockTemplate#execute} does this with locks that belong to a
	 * {@link UnitOfWork}.
	 * @param lock the lock; it must outlive the attachment
	 * @return the attachment, which any thread may close
	 */
	public static Attachment attach(HeldLock lock) {
		List<Attachment> attached = ATTACHED.get();
		if (attached == null) {
			attached = new CopyOnWriteArrayList<>();
			ATTACHED.set(attached);
		}
		Attachment attachment = new Attachment(lock.locks(), attached);
		attached.add(attachment);
		return attachment;
	}

	/**
	 * The part of a call chain in which a lock is held.
	 */
	public static final class Scope implements AutoCloseable {

		private final HeldLock lock;

		private final List<HeldLock> locks;

		private final @Nullable Scope outer;

		/** The number of the last attachment that existed before. */
		private final long lastAttached;

		private Scope(HeldLock lock, @Nullable Scope outer) {
			this.lock = lock;
			this.locks = lock.locks();
			this.outer = outer;
			List<Attachment> attached = ATTACHED.get();
			this.lastAttached = (attached != null) ? NUMBERS.get() : 0;
		}

		/**
		 * Ends the scope and all scopes inside it that were not closed.
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

		private final List<Attachment> attached;

		private final long number = NUMBERS.incrementAndGet();

		private Attachment(List<HeldLock> locks, List<Attachment> attached) {
			this.locks = locks;
			this.attached = attached;
		}

		/**
		 * Ends the attachment. Does nothing the second time.
		 */
		@Override
		public void close() {
			this.attached.remove(this);
			if (this.attached.isEmpty() && ATTACHED.get() == this.attached) {
				ATTACHED.remove();
			}
		}

	}

}
