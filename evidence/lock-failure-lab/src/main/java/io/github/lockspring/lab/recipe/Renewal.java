package io.github.lockspring.lab.recipe;

import io.github.lockspring.lab.worker.Shop;

/**
 * A thread that renews a lock three times in each lease, until it is ended.
 */
final class Renewal {

	private final Thread thread;

	/**
	 * Starts to renew.
	 * @param shop whose lock it is
	 * @param command renews once
	 */
	Renewal(Shop shop, Runnable command) {
		this.thread = new Thread(() -> {
			try {
				while (true) {
					Thread.sleep(shop.ttl().toMillis() / 3);
					long sent = System.nanoTime();
					command.run();
					shop.renewed(sent + shop.ttl().toNanos());
				}
			}
			catch (InterruptedException | RuntimeException ex) {
				// the thread ends, and with it the renewal
			}
		}, "renewal");
		this.thread.setDaemon(true);
		this.thread.start();
	}

	void end() {
		this.thread.interrupt();
	}

}
