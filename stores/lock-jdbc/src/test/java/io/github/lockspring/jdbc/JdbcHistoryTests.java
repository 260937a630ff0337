package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.History;
import io.github.lockspring.testsupport.history.HistoryWorker;
import io.github.lockspring.testsupport.history.Servers.OneServer;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in PostgreSQL while processes, connections and the server fail.
 */
class JdbcHistoryTests {

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	@Tag("history-other-stores")
	@Tag("jdbc-dying-instances")
	@Tag("paused")
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (PostgresServer server = PostgresServer.start()) {
			server.database().withLocks();
			History.check("jdbc", new OneServer(Worker.class, server.port(), (port) -> server.database(port).url(),
					server::pause, server::resume), List.of(400, 700, 1500));
		}
	}

	/**
	 * A process: an instance of an application.
	 */
	static final class Worker {

		private Worker() {
		}

		public static void main(String[] args) throws Exception {
			try (HikariDataSource pool = JdbcInstance.pool(new Database("postgresql", args[0], "postgres", ""));
					LockStore store = JdbcLockStore.builder(pool).build()) {
				HistoryWorker.work(args, store, false, Duration.ofMillis(500));
			}
		}

	}

}
