package io.github.lockspring.redis;

/**
 * Whether a subscription is known to receive messages. Thread-safe; never blocks.
 */
final class InboxConfirmation {

	/*
	 * A notice that the channel is subscribed confirms. Revocations are counted: after
	 * one, only the ping that carries the present count confirms again, so a ping that
	 * was sent earlier proves nothing. A ping that checks a confirmed subscription is
	 * outstanding until any message arrives.
	 */

	private static final String PING = "p ";

	private volatile boolean confirmed;

	private volatile long revocations;

	private volatile boolean checkOutstanding;

	boolean isConfirmed() {
		return this.confirmed;
	}

	synchronized void revoke() {
		this.revocations++;
		this.confirmed = false;
	}

	synchronized void subscribed() {
		this.revocations++;
		this.confirmed = true;
	}

	/**
	 * Confirms the subscription if this ping was sent after the last revocation.
	 * @return whether it was not confirmed before
	 */
	synchronized boolean confirm(String ping) {
		boolean confirms = !this.confirmed && ping.equals(ping());
		this.confirmed |= confirms;
		return confirms;
	}

	/**
	 * Returns the message that confirms the present subscription.
	 */
	String ping() {
		return PING + this.revocations;
	}

	static boolean isPing(String message) {
		return message.startsWith(PING);
	}

	boolean isCheckOutstanding() {
		return this.checkOutstanding;
	}

	void setCheckOutstanding(boolean outstanding) {
		this.checkOutstanding = outstanding;
	}

}
