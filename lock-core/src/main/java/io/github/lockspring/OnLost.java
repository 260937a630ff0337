package io.github.lockspring;

/**
 * What happens when a lock is lost while its work runs. An event is published and a line
 * logged in every case.
 */
public enum OnLost {

	/**
	 * The work goes on; when it returns normally, {@link LockLostException} is thrown
	 * instead.
	 */
	THROW,

	/**
	 * As {@link #THROW}, and the thread that runs the work is interrupted as soon as the
	 * loss is known.
	 */
	INTERRUPT,

	/**
	 * Nothing else: the work's result stands.
	 */
	NOTIFY

}
