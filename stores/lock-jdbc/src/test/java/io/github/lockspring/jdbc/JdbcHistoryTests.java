package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.testsupport.history.StoreHistory;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The history of locks in PostgreSQL while processes, connections and the server fail.
 */
class JdbcHistoryTests {

	@Test
	@Timeout(value = 1, unit = TimeUnit.DAYS)
	void noTwoHoldersOverlapAndTokensGrowWhateverFails() throws Exception {
		try (PostgresServer server = PostgresServer.start();
				StoreHistory history = new StoreHistory("jdbc-history", new StoreHistory.Server(server.port(),
						(port) -> server.database(port).url(), server::pause, server::resume), Worker.class)) {
			server.database().withLocks();
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
			try (HikariDataSource pool = JdbcInstance.pool(new Database("postgresql", args[0], "postgres", ""));
					LockStore store = JdbcLockStore.builder(pool).build()) {
				StoreHistory.work(args, store, Duration.ofMillis(500), Duration.ofMillis(400), Duration.ofMillis(700),
						Duration.ofMillis(1500));
			}
		}

	}

}
