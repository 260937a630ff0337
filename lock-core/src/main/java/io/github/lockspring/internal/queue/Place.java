package io.github.lockspring.internal.queue;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;

import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * One token of this process, and its entry in the queue of its lock if it has one.
 */
/*
 * For maintainers: what is done with a token is done one after the other, in `steps`,
 * whatever thread brings the results: no request is sent before the one before it has a
 * result. So fields are changed by one thread at a time, and need no lock. Only `until`
 * is also changed by renewals, which are sent for many tokens at once, and by the timer.
 */
final class Place {

	private final String key;

	private final OwnerToken token;

	private final AtomicReference<CompletableFuture<?>> steps = new AtomicReference<>(
			CompletableFuture.completedFuture(null));

	private volatile Entry.@Nullable Own entry;

	/** Whether the server may have an entry that is not known here. */
	private boolean unsure;

	private volatile boolean owned;

	private volatile boolean kept;

	/** Whether its release has failed. */
	private boolean released;

	private boolean polls;

	/** The predecessor that is watched. */
	private @Nullable String watched;

	/** The start of the last attempt that found the lock busy. */
	private long attempted;

	/** What the entry says about the length of the lease. */
	private volatile long millis;

	private long until;

	private @Nullable ScheduledFuture<?> timer;

	Place(String key, OwnerToken token) {
		this.key = key;
		this.token = token;
	}

	/**
	 * Does something after all that was begun before.
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

	/** The entry, if it is not known to have ended. */
	Entry.@Nullable Own entry() {
		Entry.Own present = this.entry;
		return (present != null && !present.isOver()) ? present : null;
	}

	void entered(Entry.Own entered, boolean polls, long millis) {
		this.entry = entered;
		this.unsure = false;
		this.owned = false;
		this.polls = polls;
		this.millis = millis;
		this.watched = null;
		this.released = false;
		timedBy(null);
	}

	void left() {
		this.entry = null;
		this.owned = false;
		this.watched = null;
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
		this.released = false;
		this.watched = null;
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

	void release() {
		this.released = true;
	}

	boolean isReleased() {
		return this.released;
	}

	boolean isPolling() {
		return this.polls;
	}

	void waitsBehind(String predecessor) {
		this.watched = predecessor;
	}

	boolean isBehind(String predecessor) {
		return predecessor.equals(this.watched);
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

	/** Never shortens. */
	synchronized void lengthen(long end) {
		if (this.timer == null || end - this.until > 0) {
			this.until = end;
		}
	}

	synchronized void endAt(long end) {
		this.until = end;
	}

	synchronized long until() {
		return this.until;
	}

	synchronized void timedBy(@Nullable ScheduledFuture<?> next) {
		if (this.timer != null) {
			this.timer.cancel(false);
		}
		this.timer = next;
	}

}
