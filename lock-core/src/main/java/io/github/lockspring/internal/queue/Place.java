package io.github.lockspring.internal.queue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The place of an instance in the queue of a lock: the token that uses it, and the entry
 * of that token.
 */
/*
 * For maintainers: all requests for a place run one after the other, in `steps`, on
 * whatever thread delivers the results: a request is sent only after the previous one has
 * a result. So only one thread at a time changes the fields, and they need no lock. Those
 * that renewals, the watch, the timer and a changed connection touch are volatile, and
 * `leaseEnd` has a monitor, since renewals, which are sent for many tokens at once, also
 * change it. The methods only note what has happened; nothing is sent here.
 */
final class Place {

	/**
	 * The known state of the entry.
	 */
	enum State {

		/** There is none. */
		FREE,
		/** An addition has no result: there may be one, or may be one later. */
		UNKNOWN,
		/** It is there, and waits. */
		WAITING,
		/** It is the first, and its token owns the lock. */
		OWNED,
		/**
		 * The ownership has ended, and it is to keep the lock, which has no result yet.
		 */
		KEEPING,
		/** The ownership has ended, and it keeps the lock for some time. */
		KEPT,
		/** As {@link #UNKNOWN}; it is not used, and is removed if it is found. */
		SETTLING,
		/** It is being removed, and is not used again whatever a list shows. */
		REMOVING

	}

	/**
	 * Identifies a place. A token never has another instance's place.
	 */
	record Id(String key, String instance) {

		static Id of(String key, OwnerToken token) {
			return new Id(key, token.instance());
		}

	}

	private final Id id;

	private final AtomicReference<CompletableFuture<?>> steps = new AtomicReference<>(
			CompletableFuture.completedFuture(null));

	private volatile OwnerToken token;

	private volatile State state = State.FREE;

	private volatile Entry.@Nullable Own entry;

	/** Whether the entry that is being removed has owned the lock. */
	private boolean wasOwned;

	/** The entry that is watched. */
	private @Nullable String predecessor;

	/** Whether the watch may be at a server that is not used any more. */
	private volatile boolean watchInDoubt;

	/** The position when it was last read, for a waiting entry. */
	private volatile EntryServer.@Nullable Position position;

	/** When that position was requested. */
	private long positionRead;

	/** The start of the last attempt that found the lock busy. */
	private long attempted;

	private long leaseEnd;

	private @Nullable ScheduledFuture<?> timer;

	Place(Id id, OwnerToken token) {
		this.id = id;
		this.token = token;
	}

	/**
	 * Runs a step after all earlier steps have finished.
	 */
	<T> CompletableFuture<T> then(Supplier<CompletionStage<T>> step) {
		CompletableFuture<T> result = new CompletableFuture<>();
		CompletableFuture<?> before = this.steps.getAndSet(result);
		before.whenComplete((ignored, failure) -> {
			try {
				step.get().whenComplete((value, ex) -> {
					if (ex != null) {
						result.completeExceptionally(ex);
					}
					else {
						result.complete(value);
					}
				});
			}
			catch (RuntimeException | Error ex) {
				result.completeExceptionally(ex);
			}
		});
		return result;
	}

	Id id() {
		return this.id;
	}

	String key() {
		return this.id.key();
	}

	OwnerToken token() {
		return this.token;
	}

	boolean is(State other) {
		return this.state == other;
	}

	/** Whether its entry is not used again, and may still be there. */
	boolean isBeingRemoved() {
		return this.state == State.SETTLING || this.state == State.REMOVING;
	}

	/** Returns the entry; null if there is none, or if it may not be known. */
	Entry.@Nullable Own entry() {
		return this.entry;
	}

	/** Returns whether a token owns the lock through the given entry. */
	boolean isOwnedBy(OwnerToken owner, Entry.Own through) {
		return this.state == State.OWNED && this.token.equals(owner) && this.entry == through;
	}

	// the way of an entry

	/** Another token uses the place, which is free. */
	void begin(OwnerToken next) {
		this.token = next;
	}

	void adding() {
		this.state = State.UNKNOWN;
	}

	void added(Entry.Own added) {
		this.entry = added;
		this.state = State.WAITING;
		doubt();
		this.predecessor = null;
		setTimer(null);
	}

	void waits(EntryServer.Position read, long start) {
		this.position = read;
		this.positionRead = start;
		this.attempted = start;
	}

	/** The position is not known any more. */
	void doubt() {
		this.position = null;
	}

	/** The position may have changed without a message, and the watch may be dead. */
	void connectionChanged() {
		this.watchInDoubt = true;
		doubt();
	}

	/**
	 * Returns the position if it is known without asking, since a watch would tell.
	 * @param since the earliest time at which it must have been read
	 */
	EntryServer.@Nullable Position watched(long since) {
		EntryServer.Position read = this.position;
		boolean watching = read != null && read.before() != null && isWatching(read.before());
		return (watching && this.positionRead - since >= 0) ? read : null;
	}

	void owned(long until) {
		this.state = State.OWNED;
		this.predecessor = null;
		doubt();
		endAt(until);
	}

	void keeping(long until) {
		this.state = State.KEEPING;
		endAt(until);
	}

	void kept() {
		this.state = State.KEPT;
	}

	/** There is no entry any more. */
	void removed() {
		this.state = State.FREE;
		this.entry = null;
		this.wasOwned = false;
		this.predecessor = null;
		doubt();
		setTimer(null);
	}

	/** The entry is not used again, and is removed if it is there. */
	void removing() {
		this.wasOwned |= this.state == State.OWNED || this.state == State.KEEPING;
		this.state = (this.entry == null) ? State.SETTLING : State.REMOVING;
	}

	/** An addition had been executed. */
	void settled(Entry.Own found) {
		this.entry = found;
		this.state = State.REMOVING;
	}

	boolean wasOwned() {
		return this.wasOwned;
	}

	// waiting

	void watch(Entry before) {
		this.watchInDoubt = false;
		this.predecessor = before.id();
	}

	void notWatching() {
		this.predecessor = null;
	}

	boolean isWatching(Entry before) {
		return before.id().equals(this.predecessor) && !this.watchInDoubt;
	}

	void attempted(long start) {
		this.attempted = start;
	}

	long attempted() {
		return this.attempted;
	}

	// the end of the lease, by the clock of this process

	/** Never shortens the lease. */
	synchronized void extendTo(long end) {
		if (end - this.leaseEnd > 0) {
			this.leaseEnd = end;
		}
	}

	private synchronized void endAt(long end) {
		this.leaseEnd = end;
	}

	synchronized long leaseEnd() {
		return this.leaseEnd;
	}

	synchronized void setTimer(@Nullable ScheduledFuture<?> next) {
		if (this.timer != null) {
			this.timer.cancel(false);
		}
		this.timer = next;
	}

}
