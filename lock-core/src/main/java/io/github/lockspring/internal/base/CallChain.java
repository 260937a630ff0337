package io.github.lockspring.internal.base;

import io.github.lockspring.LockTemplate;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;

import org.jspecify.annotations.Nullable;

/**
 * The locks of the current call chain. A call chain is what one thread runs inside an
 * annotated method or {@code LockTemplate.execute}; work handed to another thread, and
 * work that later runs on the same thread, inherit nothing. Locks that belong to a unit
 * of work of the thread, such as a transaction, are part of it until that is complete.
 * <p>
 * A lock is any object here, so that the vocabulary can ask this class, and this class
 * needs nothing of the vocabulary.
 *
 * @since 0.1
 */
public final class CallChain {

	private static final ThreadLocal<@Nullable Scope> CURRENT = new ThreadLocal<>();

	/** The attachments, which outlast the calls that made them, oldest first. */
	private static final ThreadLocal<@Nullable List<Attachment>> ATTACHED = new ThreadLocal<>();

	/** Numbers attachments, of all threads. */
	private static final AtomicLong NUMBERS = new AtomicLong();

	private CallChain() {
	}

	/**
	 * Returns the locks that the current call chain holds, innermost first, then those
	 * that belong to a unit of work, latest first; each key has its own entry.
	 * @param <L> the type of locks
	 * @param type the type of locks
	 * @return an unmodifiable snapshot, empty outside a lock
	 */
	public static <L> List<L> currentLocks(Class<L> type) {
		Scope scope = CURRENT.get();
		List<Attachment> attached = ATTACHED.get();
		if (scope == null && attached == null) {
			return List.of();
		}
		Set<Object> locks = new LinkedHashSet<>();
		for (; scope != null; scope = scope.outer) {
			locks.addAll(scope.locks);
		}
		if (attached != null) {
			List<Attachment> latestFirst = new ArrayList<>(attached);
			Collections.reverse(latestFirst);
			latestFirst.forEach((attachment) -> locks.addAll(attachment.locks));
		}
		return cast(locks, type);
	}

	/**
	 * Returns the lock of the innermost scope that is open. If it took several keys, the
	 * lock represents all of them.
	 * @param <L> the type of locks
	 * @param type the type of locks
	 * @return the lock, or empty outside of all scopes
	 */
	public static <L> Optional<L> current(Class<L> type) {
		Scope scope = CURRENT.get();
		return (scope != null) ? Optional.of(type.cast(scope.lock)) : Optional.empty();
	}

	/**
	 * Returns the locks of the innermost scope that is open, re-entered or not, and those
	 * that calls inside of it have left to a unit of work. Outside of all scopes these
	 * are all locks that belong to units of work.
	 * @param <L> the type of locks
	 * @param type the type of locks
	 * @return an unmodifiable snapshot in the order in which they were taken
	 */
	public static <L> List<L> innermostLocks(Class<L> type) {
		Scope scope = CURRENT.get();
		List<Attachment> attached = ATTACHED.get();
		if (attached == null) {
			return (scope != null) ? cast(scope.locks, type) : List.of();
		}
		Set<Object> locks = new LinkedHashSet<>((scope != null) ? scope.locks : List.of());
		for (Attachment attachment : attached) {
			if (scope == null || attachment.number > scope.lastAttached) {
				locks.addAll(attachment.locks);
			}
		}
		return cast(locks, type);
	}

	private static <L> List<L> cast(Collection<?> locks, Class<L> type) {
		List<L> result = new ArrayList<>(locks.size());
		locks.forEach((lock) -> result.add(type.cast(lock)));
		return Collections.unmodifiableList(result);
	}

	/**
	 * Makes a lock part of the current thread's call chain until the scope is closed, on
	 * the same thread.
	 * @param lock the lock; it must outlive the scope
	 * @param locks the lock of each of its keys
	 * @return the scope to close
	 */
	public static Scope open(Object lock, List<?> locks) {
		Scope scope = new Scope(lock, locks, CURRENT.get());
		CURRENT.set(scope);
		return scope;
	}

	/**
	 * Makes locks part of the current thread's call chain until the attachment is closed,
	 * whatever scopes are opened and closed meanwhile.
	 * @param locks the lock of each key; they must outlive the attachment
	 * @return the attachment, which any thread may close
	 */
	public static Attachment attach(List<?> locks) {
		List<Attachment> attached = ATTACHED.get();
		if (attached == null) {
			attached = new CopyOnWriteArrayList<>();
			ATTACHED.set(attached);
		}
		Attachment attachment = new Attachment(locks, attached);
		attached.add(attachment);
		return attachment;
	}

	/**
	 * The part of a call chain in which a lock is held.
	 */
	public static final class Scope implements AutoCloseable {

		private final Object lock;

		private final List<?> locks;

		private final @Nullable Scope outer;

		/** The number of the last attachment that existed before. */
		private final long lastAttached;

		private Scope(Object lock, List<?> locks, @Nullable Scope outer) {
			this.lock = lock;
			this.locks = locks;
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

		private final List<?> locks;

		private final List<Attachment> attached;

		private final long number = NUMBERS.incrementAndGet();

		private Attachment(List<?> locks, List<Attachment> attached) {
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
