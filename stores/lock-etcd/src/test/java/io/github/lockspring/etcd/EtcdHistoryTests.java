package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.HistoryWorker;
import io.github.lockspring.testsupport.history.Servers.OneServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in etcd while processes, connections and the server fail.
 */
@RequiresEtcd
class EtcdHistoryTests {

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("paused")
	@Tag("history-other-stores")
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (EtcdProcess server = EtcdProcess.alone()) {
			History.check("etcd", new OneServer(Worker.class, server.port(), (port) -> "http://127.0.0.1:" + port,
					server::pause, server::resume), List.of(2000, 3000));
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
				HistoryWorker.work(args, store, Duration.ofMillis(500));
			}
		}

	}

}
