package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.StoreHistory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in ZooKeeper while processes, connections and the server fail.
 */
class ZooKeeperHistoryTests {

	private static final Duration SESSION = Duration.ofSeconds(1);

	/** The server is stopped and started again instead of paused. */
	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (ZooKeeperTestServer server = ZooKeeperTestServer.start();
				StoreHistory history = new StoreHistory("zookeeper-history", new StoreHistory.Server(server.port(),
						(port) -> "127.0.0.1:" + port, server::stop, server::restart), Worker.class)) {
			history.check();
		}
	}

	/**
	 * A process: an instance of an application.
	 */
	static final class Worker {

		private Worker() {
		}

		public static void main(String[] args) throws Exception {
			try (LockStore store = ZooKeeperLockStore.builder(args[0]).sessionTimeout(SESSION).build()) {
				StoreHistory.work(args, store, Duration.ofMillis(300), SESSION, SESSION.multipliedBy(5));
			}
		}

	}

}
