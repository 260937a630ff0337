package io.github.lockspring.internal.engine;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The release of one token: a try, and after a pause another one, until one of them is
 * answered. Thread-safe.
 */
final class Release {

	/** Between two tries. */
	static final long INTERVAL_NANOS = 500_000_000;

	private final ReleaseRequest request;

	private final @Nullable KeyLock lock;

	private final long registered;

	/** The result of the first try. */
	private final CompletableFuture<ReleaseResult> firstTry = new CompletableFuture<>();

	/** When nothing of the token can be left in the store. */
	private long until;

	/**
	 * When the present try is over, or the watchdog begins the next one. The first try is
	 * the holder's.
	 */
	private long next;

	/** The number of tries, which is also the number of the last one. */
	private int tries;

	/**
	 * The number of the first try that counts. An attempt that was given up may be
	 * carried out after a try, so its late answer calls for another one.
	 */
	private int needed = 1;

	private boolean underWay;

	/**
	 * Creates a release that is not sent yet.
	 * @param lock informed when the first try is over, or null
	 * @param until when the lease that it ends is over
	 */
	Release(ReleaseRequest request, @Nullable KeyLock lock, long registered, long until) {
		this.request = request;
		this.lock = lock;
		this.registered = registered;
		this.until = until;
		this.next = registered + INTERVAL_NANOS;
	}

	String key() {
		return this.request.key();
	}

	OwnerToken token() {
		return this.request.token();
	}

	@Nullable KeyLock lock() {
		return this.lock;
	}

	/**
	 * Returns the request to send now: a lock that is to be kept is kept no longer than
	 * its holder has asked for.
	 */
	ReleaseRequest request(long now) {
		return this.request.elapsed(Duration.ofNanos(now - this.registered));
	}

	/** The result of the first try; may never come. */
	CompletableFuture<ReleaseResult> firstTry() {
		return this.firstTry;
	}

	synchronized long until() {
		return this.until;
	}

	/** The store may have the token until the given time. */
	synchronized void prolong(long until) {
		this.until = Time.later(this.until, until);
	}

	/**
	 * An attempt may bring the token back after all tries so far: only the answer of a
	 * later one counts.
	 */
	synchronized void repeat() {
		this.needed = this.tries + 1;
	}

	/**
	 * Begins a try.
	 * @param end when it is over
	 * @return its number; 0 if one is under way
	 */
	synchronized int begin(long end) {
		if (this.underWay) {
			return 0;
		}
		this.underWay = true;
		this.next = end;
		return ++this.tries;
	}

	/**
	 * A try is answered.
	 * @return whether its answer counts
	 */
	synchronized boolean answered(int number) {
		if (number == this.tries) {
			this.underWay = false;
		}
		return number >= this.needed;
	}

	/** A try has no answer. */
	synchronized void failed(int number, long now) {
		if (number == this.tries) {
			this.underWay = false;
			this.next = now + INTERVAL_NANOS;
		}
	}

	synchronized boolean isUnderWay() {
		return this.underWay;
	}

	synchronized boolean isDue(long now) {
		return now - this.next >= 0;
	}

	synchronized boolean isOver(long now) {
		return now - this.until >= 0;
	}

	/** Whether it has failed repeatedly. */
	synchronized boolean isHopeless() {
		return !this.underWay && this.tries > 1;
	}

	synchronized long next() {
		return this.next;
	}

	synchronized int tries() {
		return this.tries;
	}

}
