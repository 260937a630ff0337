package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.history.StoreHistory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in etcd while processes, connections and the server fail.
 */
@RequiresEtcd
class EtcdHistoryTests {

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (EtcdProcess server = EtcdProcess.alone();
				StoreHistory history = new StoreHistory("etcd-history", new StoreHistory.Server(server.port(),
						(port) -> "http://127.0.0.1:" + port, server::pause, server::resume), Worker.class)) {
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
			try (LockStore store = EtcdLockStore.builder(() -> Clients.of(args[0])).build()) {
				StoreHistory.work(args, store, Duration.ofMillis(500), Duration.ofSeconds(2), Duration.ofSeconds(3));
			}
		}

	}

}
