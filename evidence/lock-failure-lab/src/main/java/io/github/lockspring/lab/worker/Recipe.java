package io.github.lockspring.lab.worker;

/**
 * A way to sell seats so that no two shops sell the same one. Has a constructor with a
 * {@link Shop}.
 */
public interface Recipe extends AutoCloseable {

	/**
	 * Tries once to sell a seat: enters the section, if it is free, sells, and leaves.
	 * Says {@link Shop#busy()} if another shop is inside.
	 * @throws Exception if a server fails, or the work does
	 */
	void sell() throws Exception;

	/** Ends what runs in the background. */
	@Override
	default void close() {
	}

}
