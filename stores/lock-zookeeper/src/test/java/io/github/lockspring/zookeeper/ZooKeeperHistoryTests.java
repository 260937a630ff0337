package io.github.lockspring.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.HistoryWorker;
import io.github.lockspring.testsupport.history.ServerGroup;
import io.github.lockspring.testsupport.process.RunDirectory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in ZooKeeper while processes, connections and servers fail.
 */
class ZooKeeperHistoryTests {

	private static final Duration SESSION = Duration.ofSeconds(3);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("history-other-stores")
	@Tag("paused")
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		int session = (int) SESSION.toMillis();
		try (ZooKeeperProcesses ensemble = new ZooKeeperProcesses(RunDirectory.of("ensemble"))) {
			History.check("zookeeper",
					new ServerGroup(Worker.class, ensemble.servers(), (port) -> "127.0.0.1:" + port, Duration.ZERO),
					List.of(session, 5 * session));
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
				HistoryWorker.work(args, store, true, Duration.ofMillis(300));
			}
		}

	}

}
