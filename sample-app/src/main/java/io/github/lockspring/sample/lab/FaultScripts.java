package io.github.lockspring.sample.lab;

/**
 * How the faults are made. Each script strikes at a named point in the course of the
 * first shop, waits for what the others do about it, and lets the first shop go on.
 */
final class FaultScripts {

	/** Longer than a lease and the time after which a lock counts as stuck. */
	static final long LONG_MILLIS = 2_600;

	private static final String PAYING = "paying";

	private FaultScripts() {
	}

	static void none(Stage stage) throws InterruptedException {
		stage.pause(1_000);
	}

	static void stopped(Stage stage) throws InterruptedException {
		stage.holdAt(1, PAYING);
		int from = stage.now();
		stage.stop(1);
		stage.letGo(1, PAYING);
		awaitSaleOfOther(stage, from);
		stage.resume(1);
	}

	/** Waits for a sale of another shop, and in all for as long as the fault lasts. */
	private static void awaitSaleOfOther(Stage stage, int from) throws InterruptedException {
		long begin = System.nanoTime();
		stage.awaitOther("sold", from, LONG_MILLIS);
		long left = LONG_MILLIS - (System.nanoTime() - begin) / 1_000_000;
		stage.pause(Math.max(0, left));
	}

}
