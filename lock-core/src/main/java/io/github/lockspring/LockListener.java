package io.github.lockspring;

/**
 * Receives the events of this process's locks. Every bean of this type is called.
 * <p>
 * It is called on the thread that acquires or releases, and for a loss on a separate
 * thread; it should return quickly and must be thread-safe. An exception is logged and
 * has no other effect.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Called for each event.
	 * @param event the event
	 */
	void onLockEvent(LockEvent event);

}
