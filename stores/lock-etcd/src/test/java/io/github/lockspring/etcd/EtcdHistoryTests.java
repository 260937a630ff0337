package io.github.lockspring.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.etcd.EtcdProcess;
import io.github.lockspring.testsupport.etcd.RequiresEtcd;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.HistoryWorker;
import io.github.lockspring.testsupport.history.ServerGroup;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in etcd while processes, connections and members fail.
 */
@RequiresEtcd
class EtcdHistoryTests {

	/**
	 * Shorter than each stop of a server, so that requests fail and are executed later.
	 */
	private static final Duration COMMAND_TIMEOUT = Duration.ofMillis(300);

	/**
	 * A leader that goes on sees leases as over which its successor has renewed, and
	 * revokes them, see docs/choose/etcd.md. With plain leases that took 0.1 seconds.
	 */
	private static final Duration REVOKING = Duration.ofSeconds(2);

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("paused")
	@Tag("history-other-stores")
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		List<EtcdProcess> members = EtcdProcess.members(3);
		try {
			members.forEach(EtcdProcess::awaitUsable);
			History.check("etcd",
					new ServerGroup(Worker.class, members, (port) -> "http://127.0.0.1:" + port, REVOKING),
					List.of(2000, 3000, 12_000));
		}
		finally {
			members.forEach(EtcdProcess::close);
		}
	}

	/**
	 * A process: an instance of an application.
	 */
	static final class Worker {

		private Worker() {
		}

		public static void main(String[] args) throws Exception {
			try (LockStore store = EtcdLockStore.builder(() -> Clients.of(args[0].split(",")))
				.commandTimeout(COMMAND_TIMEOUT)
				.build()) {
				HistoryWorker.work(args, store, true, COMMAND_TIMEOUT);
			}
		}

	}

}
