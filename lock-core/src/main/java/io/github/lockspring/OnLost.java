package io.github.lockspring;

/**
 * What happens when a lock is lost while its work runs. An event is published and a line
 * logged in every case.
 *
 * @since 0.1
 */
public enum OnLost {

	/**
	 * Lets the work go on, and throws {@link LockLostException} when it returns normally.
	 */
	THROW,

	/**
	 * As {@link #THROW}, and interrupts the thread that runs the work as soon as the loss
	 * is known.
	 */
	INTERRUPT

}
