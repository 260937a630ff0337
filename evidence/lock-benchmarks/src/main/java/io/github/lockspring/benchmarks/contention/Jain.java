package io.github.lockspring.benchmarks.contention;

import java.util.stream.LongStream;

/**
 * Jain's fairness index (Jain, Chiu and Hawe 1984): 1 where all got the same, 1/n where
 * one of n got everything.
 */
final class Jain {

	private Jain() {
	}

	/**
	 * The index of these shares.
	 * @return between 1/n and 1; NaN if no thread got anything
	 */
	static double index(long... shares) {
		double sum = LongStream.of(shares).sum();
		double squares = LongStream.of(shares).mapToDouble((share) -> (double) share * share).sum();
		return sum * sum / (shares.length * squares);
	}

}
