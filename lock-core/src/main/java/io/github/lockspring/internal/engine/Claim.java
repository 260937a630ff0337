package io.github.lockspring.internal.engine;

import io.github.lockspring.internal.engine.support.Time;
import io.github.lockspring.store.OwnerToken;
import org.jspecify.annotations.Nullable;

/**
 * The state of one owner token, from its first attempt to its release: three independent
 * things. For how long the store may have the token, which its release needs; what is
 * known of a holder elsewhere, for messages to callers; and whether messages reach the
 * token. Whether others compete is {@link Contention}. Changes under the monitor of the
 * key's lock.
 */
final class Claim {

	/** For how long an instance that no message reaches waits for its inbox to open. */
	static final long TIME_TO_OPEN_INBOX = 500_000_000;

	private final OwnerToken token;

	private final Contention contention;

	/** The longest lease that was requested: for so long the store may have the token. */
	private long longest;

	/** Since when no message can reach a token that needs one; null if one can. */
	private @Nullable Long unreachedSince;

	/** When the lease of another holder ends, as far as is known. */
	private long heldElsewhereUntil;

	/** Whether an attempt has found the lock busy. */
	private boolean foundBusy;

	Claim(OwnerToken token, long now) {
		this.token = token;
		this.contention = new Contention(now);
	}

	OwnerToken token() {
		return this.token;
	}

	Contention contention() {
		return this.contention;
	}

	/** Length of the lease that a hand-over from another instance gives. */
	long grantNanos() {
		return this.token.grantMillis() * 1_000_000L;
	}

	/** A lease of this length has been requested. */
	void requested(long length) {
		this.longest = Math.max(this.longest, length);
	}

	/**
	 * For how long the store may have the token after the last request, by a clock that
	 * may be faster than the store's.
	 */
	long longest() {
		return this.longest + RenewalPolicy.drift(this.longest);
	}

	/**
	 * Returns whether this token needs a message and none has been able to reach it for
	 * too long. Called at each attempt.
	 */
	boolean hasBeenUnreachedForTooLong(boolean informed, long now) {
		if (informed || !this.token.needsMessage()) {
			this.unreachedSince = null;
			return false;
		}
		if (this.unreachedSince == null) {
			this.unreachedSince = now;
		}
		return now - this.unreachedSince >= TIME_TO_OPEN_INBOX;
	}

	/**
	 * An attempt has found the lock busy.
	 * @param until when the holder's lease ends; {@link Time#FOREVER} later if it does
	 * not
	 */
	void foundBusy(long until) {
		this.foundBusy = true;
		this.heldElsewhereUntil = until;
	}

	/**
	 * Takes over what is known from a claim that this one replaces. Contention is not: an
	 * instance that messages do not reach assumes it.
	 */
	void followed(Claim before) {
		this.foundBusy = before.foundBusy;
		this.heldElsewhereUntil = before.heldElsewhereUntil;
	}

	/** Whether an attempt has found the lock busy. */
	boolean hasFoundBusy() {
		return this.foundBusy;
	}

	/**
	 * Describes in a sentence who is ahead: a holder elsewhere, or other waiters here.
	 */
	String describeHolder(long now) {
		return this.foundBusy ? LockMessages.heldElsewhere(this.heldElsewhereUntil - now) : LockMessages.AHEAD_IN_QUEUE;
	}

}
