package io.github.lockspring;

/**
 * Is told what happens to this process's locks. Every bean of this type is called.
 * <p>
 * Called on the thread that acquires or releases, and for a loss on a thread of its own;
 * keep it short. What it throws is logged and changes nothing.
 */
@FunctionalInterface
public interface LockListener {

	/**
	 * Called for each event.
	 * @param event the event
	 */
	void onLockEvent(LockEvent event);

}
