package io.github.lockspring.benchmarks.contention;

/**
 * The contention benchmark's entry.
 */
public final class ContentionBenchmark {

	private ContentionBenchmark() {
	}

	/**
	 * Runs the scenarios.
	 * @param args see README.md
	 */
	public static void main(String[] args) {
		System.out.println(Runtime.version());
	}

}
