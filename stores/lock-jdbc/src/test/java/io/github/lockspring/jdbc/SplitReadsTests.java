package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

import javax.sql.DataSource;

import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore.AcquireResult;
import io.github.lockspring.store.LockStore.AcquireResult.Acquired;
import io.github.lockspring.store.LockStore.AcquireResult.Busy;
import io.github.lockspring.store.LockStore.ReleaseRequest;
import io.github.lockspring.store.LockStore.ReleaseResult;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Behind a proxy that sends what only reads to a replica, which is far behind, as
 * ProxySQL, MaxScale and Pgpool-II do; statements that lock rows go to the primary.
 */
@ParameterizedClass
@MethodSource("io.github.lockspring.jdbc.TestDatabases#each")
class SplitReadsTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private final Database primary;

	private Connection replica;

	SplitReadsTests(Database primary) {
		this.primary = primary;
	}

	@BeforeEach
	void connectToReplica() throws SQLException {
		Database database = switch (this.primary.platform()) {
			case "h2" -> Databases.h2();
			case "postgresql" -> Databases.postgres();
			default -> Databases.mariaDb().orElseThrow();
		};
		this.replica = database.withLocks().dataSource().getConnection();
	}

	@AfterEach
	void disconnect() throws SQLException {
		this.replica.close();
	}

	@Test // defect 23
	void lockIsQueuedForAndHandedOverByWhatThePrimarySays() {
		try (LockStore store = JdbcLockStore.builder(proxy()).build()) {
			OwnerToken owner = new OwnerToken("split-reads-tests-0001", 1, 5000);
			OwnerToken waiter = new OwnerToken("split-reads-tests-0002", 1, 5000);
			assertThat(acquire(store, owner)).isInstanceOf(Acquired.class);
			assertThat(acquire(store, waiter)).isInstanceOf(Busy.class);
			assertThat(release(store, owner)).isInstanceOf(ReleaseResult.Released.class);
			assertThat(new JdbcTemplate(this.primary.dataSource()).queryForObject("SELECT owner FROM lock_lease",
					String.class))
				.isEqualTo(waiter.toString());
			assertThat(release(store, owner)).as("again").isInstanceOf(ReleaseResult.NotOwner.class);
			assertThat(release(store, waiter)).isInstanceOf(ReleaseResult.Released.class);
		}
	}

	private DataSource proxy() {
		return new InterceptedDataSource(this.primary.dataSource(),
				(sql, method, arguments,
						call) -> (method.getName().equals("prepareStatement") && isSentToReplica((String) arguments[0]))
								? this.replica.prepareStatement((String) arguments[0]) : call.proceed());
	}

	private static boolean isSentToReplica(String sql) {
		return sql.startsWith("SELECT") && !sql.contains("FINAL TABLE") && !sql.contains(" FOR UPDATE");
	}

	private static AcquireResult acquire(LockStore store, OwnerToken token) {
		return new JoinedStore(store).acquire(new AcquireRequest("order 1", token, Duration.ofMinutes(1), true),
				TIMEOUT);
	}

	private static ReleaseResult release(LockStore store, OwnerToken token) {
		return new JoinedStore(store).release(new ReleaseRequest("order 1", token), TIMEOUT);
	}

}
