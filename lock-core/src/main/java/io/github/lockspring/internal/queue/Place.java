package io.github.lockspring.internal.queue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * A token of this process and, if it has one, its entry in the queue of its lock.
 */
/*
 * For maintainers: all operations on a token run one after the other, in `steps`, on
 * whatever thread delivers the results: a request is sent only after the previous one has
 * a result. So only one thread at a time changes the fields, and they need no lock. The
 * exception is `leaseEnd`, which is also changed by renewals, since these are sent for
 * many tokens at once, and by the timer.
 */
final class Place {

	private final String key;

	private final OwnerToken token;

	private final AtomicReference<CompletableFuture<?>> steps = new AtomicReference<>(
			CompletableFuture.completedFuture(null));

	private volatile Entry.@Nullable Own entry;

	/** Whether the server may have an entry that this process does not know. */
	private boolean unsure;

	private volatile boolean owned;

	private volatile boolean kept;

	private boolean releaseFailed;

	/** The entry that is watched. */
	private @Nullable String predecessor;

	/** The start of the last attempt that found the lock busy. */
	private long attempted;

	/** The length of the lease as written in the entry. */
	private volatile long millis;

	private long leaseEnd;

	private @Nullable ScheduledFuture<?> timer;

	Place(String key, OwnerToken token) {
		this.key = key;
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

	String key() {
		return this.key;
	}

	OwnerToken token() {
		return this.token;
	}

	/** Returns the entry, unless it is known to have ended. */
	Entry.@Nullable Own entry() {
		Entry.Own present = this.entry;
		return (present != null && !present.isOver()) ? present : null;
	}

	void entered(Entry.Own entered, long millis) {
		this.entry = entered;
		this.unsure = false;
		this.owned = false;
		this.millis = millis;
		this.predecessor = null;
		this.releaseFailed = false;
		setTimer(null);
	}

	void left() {
		this.entry = null;
		this.owned = false;
		this.predecessor = null;
		this.unsure = false;
	}

	void unsure() {
		this.unsure = true;
	}

	boolean isUnsure() {
		return this.unsure;
	}

	void own() {
		this.owned = true;
		this.releaseFailed = false;
		this.predecessor = null;
	}

	void keep() {
		this.kept = true;
		this.owned = false;
	}

	boolean isKept() {
		return this.kept;
	}

	boolean isOwned() {
		return this.owned;
	}

	void releaseFailed() {
		this.releaseFailed = true;
	}

	boolean hasReleaseFailed() {
		return this.releaseFailed;
	}

	void setPredecessor(String predecessor) {
		this.predecessor = predecessor;
	}

	boolean isWatching(String predecessor) {
		return predecessor.equals(this.predecessor);
	}

	void attempted(long start) {
		this.attempted = start;
	}

	long attempted() {
		return this.attempted;
	}

	long millis() {
		return this.millis;
	}

	void millis(long written) {
		this.millis = written;
	}

	// the end of the lease, by the clock of this process

	/** Never shortens the lease. */
	synchronized void extendTo(long end) {
		if (this.timer == null || end - this.leaseEnd > 0) {
			this.leaseEnd = end;
		}
	}

	synchronized void endAt(long end) {
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
