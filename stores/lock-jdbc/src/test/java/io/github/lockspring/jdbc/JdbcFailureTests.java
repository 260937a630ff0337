package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.process.HolderProcess;
import io.github.lockspring.testsupport.store.AbstractServerFailureTests;
import io.github.lockspring.testsupport.store.Instance;
import io.github.lockspring.testsupport.store.JoinedStore;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks in a database when the server, the network or an instance fails.
 * The codes in the names are those of {@code docs/understand/failures.md}.
 */
class JdbcFailureTests extends AbstractServerFailureTests {

	private static PostgresServer server;

	private final JdbcTemplate admin = new JdbcTemplate(server.database().dataSource());

	private final LockRequest request = LockRequest.of(this.key).waitTime(PATIENT);

	private final List<JdbcInstance> instances = new ArrayList<>();

	@BeforeAll
	static void start() {
		server = PostgresServer.start();
		server.database().withLocks();
	}

	@AfterAll
	static void end() {
		server.close();
	}

	@AfterEach
	void stop() {
		this.instances.forEach(JdbcInstance::close);
	}

	@Override
	protected int port() {
		return server.port();
	}

	@Override
	protected void kill() {
		server.kill();
	}

	@Override
	protected void restart() {
		server.restart();
	}

	@Override
	protected LockStore store(int port, boolean lasting) {
		HikariDataSource pool = JdbcInstance.pool(server.database(port));
		closeLater(pool);
		return JdbcLockStore.builder(pool).build();
	}

	@Override
	protected LockRequest brief() {
		return this.request.ttl(Duration.ofSeconds(2));
	}

	@Override
	protected String nameOfServer() {
		return "The lock database";
	}

	@Override
	protected Class<?> holder() {
		return Holder.class;
	}

	/** A process that holds a lock. */
	static final class Holder {

		private Holder() {
		}

		public static void main(String[] args) {
			HikariDataSource pool = JdbcInstance.pool(
					new Database("postgresql", "jdbc:postgresql://127.0.0.1:" + args[0] + "/postgres", "postgres", ""));
			try (Instance instance = Instance.over(JdbcLockStore.builder(pool).build()).start()) {
				HolderProcess.hold(instance.locks(), args[1], Duration.ofSeconds(2));
			}
		}

	}

	private JdbcInstance instance(Database database) {
		JdbcInstance instance = JdbcInstance.on(database);
		this.instances.add(instance);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(PATIENT)).close();
		return instance;
	}

	private JdbcInstance instance() {
		return instance(server.database());
	}

	@Test
	@Tag("jdbc-read-only")
	@Tag("rights-jdbc")
	void f30ReadOnlyDatabaseIsNamedWithItsRemedy() {
		JdbcInstance instance = instance();
		JdbcInstance readOnly = JdbcInstance
			.on(server.database().with("?options=-c%20default_transaction_read_only=on"));
		this.instances.add(readOnly);
		// the last attempt within a second may have had no answer at all
		await().atMost(PATIENT)
			.untilAsserted(() -> assertThatExceptionOfType(LockUnavailableException.class)
				.isThrownBy(() -> readOnly.locks().acquire(this.request.waitTime(Duration.ofSeconds(1))))
				.withStackTraceContaining("read-only")
				.withStackTraceContaining("Connect to the primary"));
		instance.locks().acquire(this.request).close();
	}

	/** Behind PgBouncer in transaction mode, for example. */
	@Test
	@Tag("jdbc-prepared-statements")
	void preparedStatementsOfOthersAreNamedWithTheSettingThatAvoidsThem() {
		try (HikariDataSource pool = JdbcInstance.pool(server.database().with("?prepareThreshold=1"))) {
			pool.setConnectionInitSql("DO $$ BEGIN FOR i IN 3..99 LOOP"
					+ " EXECUTE format('PREPARE %I AS SELECT 1', 'S_' || i); END LOOP; END $$");
			try (LockStore store = JdbcLockStore.builder(pool).build()) {
				assertThatExceptionOfType(LockUnavailableException.class).isThrownBy(() -> {
					for (int i = 0; i < 20; i++) {
						OwnerToken token = new OwnerToken("jdbc-failure-tests-000", i, 1000);
						new JoinedStore(store).acquire(new AcquireRequest(this.key + i, token, PATIENT, false),
								PATIENT);
					}
				})
					.withMessageContaining("already exists")
					.withMessageContaining("prepareThreshold=0")
					.matches((ex) -> !ex.isPermanent());
			}
		}
	}

	@Test
	@Tag("jdbc-missing-rights")
	@Tag("rights-jdbc")
	void f30MissingRightsAreNamedAtOnceAndForAllWaiters() {
		JdbcInstance restricted = JdbcInstance.on(withRights("reader", "SELECT"));
		this.instances.add(restricted);
		long start = System.nanoTime();
		assertThatExceptionOfType(LockUnavailableException.class)
			.isThrownBy(() -> restricted.locks().acquire(this.request))
			.withStackTraceContaining("permission denied for table lock_lease")
			.withStackTraceContaining("needs the rights to SELECT, INSERT, UPDATE and, of 'lock_lease_waiter', DELETE")
			.matches(LockUnavailableException::isPermanent);
		assertThat(Duration.ofNanos(System.nanoTime() - start)).as("no wait mends it").isLessThan(PATIENT);
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	@Tag("jdbc-purge-without-rights")
	void missingRightToPurgeIsLoggedOnceWithItsRemedy(CapturedOutput output) {
		Database restricted = withRights("keeper", "SELECT, INSERT, UPDATE");
		this.admin.execute("INSERT INTO lock_lease VALUES ('lock:old', '-', 1, 0, 0)");
		try (JdbcExecutor requests = new JdbcExecutor(restricted.dataSource(), "lock_lease", "", 1);
				LockTablePurge purge = new LockTablePurge(requests, "lock_lease", "lock:", Duration.ofDays(7),
						(call) -> Dialect.POSTGRESQL)) {
			purge.run();
			purge.run();
			this.admin.execute("GRANT DELETE ON lock_lease, lock_lease_waiter TO keeper");
			purge.run();
		}
		assertThat(output.getOut().lines().filter((line) -> line.contains("permission denied for table lock_lease")))
			.singleElement(InstanceOfAssertFactories.STRING)
			.contains("Cannot delete old rows of the table 'lock_lease'", "distributed-lock.jdbc.purge-after",
					"needs the right to DELETE");
		assertThat(this.admin.queryForList("SELECT lock_key FROM lock_lease", String.class)).doesNotContain("lock:old");
	}

	/** Connects as a user with few rights. */
	private Database withRights(String user, String rights) {
		this.admin.execute("CREATE ROLE " + user + " LOGIN PASSWORD 'secret'");
		this.admin.execute("GRANT " + rights + " ON lock_lease, lock_lease_waiter TO " + user);
		return new Database("postgresql", server.database().url(), user, "secret");
	}

}
