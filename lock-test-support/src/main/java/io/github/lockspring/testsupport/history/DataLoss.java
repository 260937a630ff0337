package io.github.lockspring.testsupport.history;

/**
 * The server lost all its data at some moment between two times.
 *
 * @param from before it happened
 * @param to after it had happened
 */
public record DataLoss(long from, long to) {

	/** Returns the loss that something causes. */
	public static DataLoss during(Runnable what) {
		long from = System.nanoTime();
		what.run();
		return new DataLoss(from, System.nanoTime());
	}

}
