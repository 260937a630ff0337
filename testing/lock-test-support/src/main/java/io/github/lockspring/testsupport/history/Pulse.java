package io.github.lockspring.testsupport.history;

import java.util.concurrent.TimeUnit;

/**
 * Records when this process did not run although it should have, to distinguish a late
 * lock from a late machine.
 *
 * @since 0.1
 */
public final class Pulse implements AutoCloseable {

	private static final long INTERVAL = TimeUnit.MILLISECONDS.toNanos(2);

	/** Later than this is worth a line. */
	private static final long LATE = TimeUnit.MILLISECONDS.toNanos(3);

	private final Thread thread;

	private volatile boolean stopping;

	/**
	 * Starts at once.
	 * @param events where to write
	 * @param beat should take no time
	 */
	public Pulse(EventLog events, Runnable beat) {
		this.thread = new Thread(() -> {
			while (!this.stopping) {
				long due = System.nanoTime() + INTERVAL;
				try {
					TimeUnit.NANOSECONDS.sleep(INTERVAL);
				}
				catch (InterruptedException ex) {
					return;
				}
				beat.run();
				long now = System.nanoTime();
				if (now - due > LATE) {
					events.delayed(due, now);
				}
			}
		}, "pulse");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	@Override
	public void close() {
		this.stopping = true;
		try {
			this.thread.join();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

}
