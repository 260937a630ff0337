package io.github.lockspring.testsupport.history;

/**
 * A loss of all data at some moment between two times.
 *
 * @param from before it happened
 * @param to after it had happened
 * @since 0.1
 */
public record DataLoss(long from, long to) {

	/** Returns the loss that something causes. */
	public static DataLoss during(Runnable what) {
		long from = System.nanoTime();
		what.run();
		return new DataLoss(from, System.nanoTime());
	}

}
