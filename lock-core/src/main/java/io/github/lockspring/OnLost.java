package io.github.lockspring;

/**
 * The reaction to the loss of a lock while its work runs. In every case, an event is
 * published and a line is logged.
 *
 * @since 0.1
 */
public enum OnLost {

	/**
	 * Lets the work continue, and throws {@link LockLostException} when it returns
	 * normally.
	 */
	THROW,

	/**
	 * As {@link #THROW}, but also interrupts the thread that runs the work as soon as the
	 * loss is detected. No such interrupt is left when the call ends. Interrupts of
	 * others are left, except one that arrives while that of the loss is pending: the
	 * thread has one flag for both.
	 */
	INTERRUPT

}
