package io.github.lockspring.internal.engine;

import java.util.List;

/**
 * The interrupt of the thread that works under the lock, at its loss. To send it may
 * block: it closes the channel that the thread reads or writes. A thread that is
 * interrupted already is not interrupted again: that interrupt is somebody else's, and is
 * not to be taken for this one.
 */
final class LossInterrupt {

	private final Thread worker;

	private boolean sent;

	private boolean ended;

	LossInterrupt(Thread worker) {
		this.worker = worker;
	}

	/**
	 * Ends the interrupts of the present thread: none arrives after it, and one that the
	 * work has not received is cleared.
	 * @param received whether the work ended by an interrupt: of those of losses, it has
	 * received one, so a flag that is set by now may be somebody else's
	 */
	static void endAll(List<LossInterrupt> interrupts, boolean received) {
		long sent = interrupts.stream().filter(LossInterrupt::end).count();
		if (sent > (received ? 1 : 0)) {
			Thread.interrupted();
		}
	}

	synchronized void send() {
		if (!this.ended && !this.worker.isInterrupted()) {
			this.sent = true;
			this.worker.interrupt();
		}
	}

	/**
	 * It does not arrive any more. Called by its thread, without the lock's monitor: one
	 * that is being sent is waited for.
	 * @return whether it was sent
	 */
	private synchronized boolean end() {
		this.ended = true;
		return this.sent;
	}

}
