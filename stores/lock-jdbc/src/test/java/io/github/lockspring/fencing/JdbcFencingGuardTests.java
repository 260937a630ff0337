package io.github.lockspring.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

import javax.sql.DataSource;
import javax.sql.XAConnection;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;

import io.github.lockspring.FencingGuard;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.RecordingDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.xa.PGXADataSource;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.dao.InvalidDataAccessResourceUsageException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.datasource.TransactionAwareDataSourceProxy;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The guard alone, in real transactions on real databases.
 */
@ParameterizedClass
@MethodSource("shops")
class JdbcFencingGuardTests {

	private static final String KEY = "order:42";

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private final Shop shop;

	private final RecordingDataSource dataSource;

	private final List<String> statements;

	private final JdbcTemplate jdbc;

	private final PlatformTransactionManager transactions;

	private final FencingGuard guard;

	JdbcFencingGuardTests(Shop shop) {
		this.shop = shop;
		this.dataSource = new RecordingDataSource(shop.database().dataSource(), shop.product());
		this.statements = this.dataSource.statements();
		this.jdbc = new JdbcTemplate(this.dataSource);
		this.transactions = new JdbcTransactionManager(this.dataSource);
		this.guard = new JdbcFencingGuard(this.dataSource);
	}

	static Stream<Shop> shops() {
		return Stream.concat(
				Stream.of(new Shop("h2", Databases.h2(), null),
						new Shop("h2 as if it were MariaDB", Databases.h2(";MODE=MariaDB"), "MariaDB"),
						new Shop("h2 as if it were Oracle", Databases.h2(), "Oracle"),
						new Shop("postgresql", Databases.postgres(), null)),
				Databases.mariaDb()
					.stream()
					.flatMap((database) -> Stream.of(new Shop("mariadb", database, null), new Shop(
							"mariadb that counts changed rows", database.with("&useAffectedRows=true"), null))));
	}

	@BeforeEach
	void clear() {
		this.shop.database().withFencingTokens();
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS written (token BIGINT)");
		this.jdbc.update("DELETE FROM lock_fence");
		this.jdbc.update("DELETE FROM written");
		this.statements.clear();
	}

	@AfterEach
	void endThreads() {
		this.threads.shutdownNow();
	}

	@Test
	void laterAndEqualTokensCostOneStatementEach() {
		work(KEY, 7);
		for (long token : new long[] { 7, 8, 8, (1L << 53) - 1 }) {
			this.statements.clear();
			inTransaction((status) -> this.guard.check(KEY, token));
			assertThat(this.statements).singleElement()
				.asString()
				.startsWith((this.shop.upserts() ? "INSERT INTO " : "UPDATE ") + "lock_fence");
			assertThat(fencingToken(KEY)).isEqualTo(token);
		}
		assertThat(this.jdbc.queryForObject("SELECT uses FROM lock_fence", Long.class)).isEqualTo(5);
	}

	@Test
	@Tag("overrun-fencing")
	void f03LateWriterIsRefusedAndRolledBack() {
		work(KEY, 8);
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> inTransaction((status) -> {
			write(7);
			this.guard.check(KEY, 7);
		})).satisfies((ex) -> {
			assertThat(ex.getResource()).isEqualTo(KEY);
			assertThat(ex.getToken()).isEqualTo(7);
			assertThat(ex.getLatest()).isEqualTo(8);
		});
		assertThat(written()).containsExactly(8L);
		assertThat(fencingToken(KEY)).isEqualTo(8);
		work(KEY, 8);
	}

	@Test
	@Tag("no-late-writer")
	void f03LateWriterWaitsForTheTransactionOfTheLaterOneAndIsRefused() throws Exception {
		work(KEY, 1);
		CompletableFuture<Void> late = new CompletableFuture<>();
		inTransaction((status) -> {
			this.guard.check(KEY, 3);
			this.statements.clear();
			run(late, () -> work(KEY, 2));
			await().until(() -> !this.statements.isEmpty());
			assertThat(late).isNotDone();
			write(3);
		});
		assertThat(late).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(StaleFencingTokenException.class);
		assertThat(written()).containsExactly(1L, 3L);
	}

	@Test
	void earlierOneOfTwoWhoMakeTheRowIsRefused() {
		CompletableFuture<Void> second = new CompletableFuture<>();
		inTransaction((status) -> {
			work(KEY, 2);
			run(second, () -> work(KEY, 1));
			awaitInserts(2);
		});
		assertThat(second).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(StaleFencingTokenException.class);
		assertThat(written()).containsExactly(2L);
	}

	@Test
	void rowIsMadeByTheSecondIfTheFirstRollsBack() throws Exception {
		CompletableFuture<Void> second = new CompletableFuture<>();
		inTransaction((status) -> {
			work(KEY, 2);
			run(second, () -> work(KEY, 1));
			awaitInserts(2);
			status.setRollbackOnly();
		});
		second.get(20, TimeUnit.SECONDS);
		assertThat(fencingToken(KEY)).isEqualTo(1);
		assertThat(written()).containsExactly(1L);
	}

	@Test
	void manyWhoMakeTheRowAtOnceAllGetThrough() {
		int writers = 6;
		CountDownLatch start = new CountDownLatch(1);
		List<CompletableFuture<Void>> all = Stream.generate(CompletableFuture<Void>::new).limit(writers).toList();
		all.forEach((each) -> run(each, () -> {
			start.await();
			work(KEY, 5);
		}));
		start.countDown();
		CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).orTimeout(20, TimeUnit.SECONDS).join();
		assertThat(written()).hasSize(writers);
		assertThat(this.jdbc.queryForObject("SELECT uses FROM lock_fence", Long.class)).isEqualTo(writers);
	}

	@Test
	void newRowsOfDifferentResourcesDoNotWaitForEachOther() throws Exception {
		CompletableFuture<Void> other = new CompletableFuture<>();
		inTransaction((status) -> {
			this.guard.check("order:1", 1);
			run(other, () -> work("order:2", 2));
			other.orTimeout(20, TimeUnit.SECONDS).join();
			this.guard.check("order:3", 3);
		});
		assertThat(fencingToken("order:2")).isEqualTo(2);
		assertThat(fencingToken("order:3")).isEqualTo(3);
	}

	@Test
	void rowThatASnapshotDoesNotShowIsNoProofAgainstTheToken() {
		assumeThat(this.shop.database().platform()).isEqualTo("postgresql");
		for (int isolation : new int[] { TransactionDefinition.ISOLATION_REPEATABLE_READ,
				TransactionDefinition.ISOLATION_SERIALIZABLE }) {
			clear();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> inTransaction(isolation, (status) -> {
					assertThat(written()).isEmpty();
					CompletableFuture<Void> other = new CompletableFuture<>();
					run(other, () -> work(KEY, 1));
					other.orTimeout(20, TimeUnit.SECONDS).join();
					this.guard.check(KEY, 2);
				}));
			inTransaction(isolation, (status) -> this.guard.check(KEY, 2));
			assertThat(fencingToken(KEY)).isEqualTo(2);
		}
	}

	@Test
	void rowThatWasRaisedAfterASnapshotIsNeverLowered() {
		work(KEY, 1);
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> inTransaction(TransactionDefinition.ISOLATION_REPEATABLE_READ, (status) -> {
				assertThat(written()).containsExactly(1L);
				CompletableFuture<Void> other = new CompletableFuture<>();
				run(other, () -> work(KEY, 3));
				other.orTimeout(20, TimeUnit.SECONDS).join();
				this.guard.check(KEY, 2);
			}))
			.satisfies((ex) -> assertThat(ex).isInstanceOfAny(ConcurrencyFailureException.class,
					StaleFencingTokenException.class));
		assertThat(fencingToken(KEY)).isEqualTo(3);
	}

	@Test
	void callWithoutTransactionIsRefusedWithARemedy() {
		assertThatIllegalStateException().isThrownBy(() -> this.guard.check(KEY, 1))
			.withMessageContainingAll(KEY, "without a transaction", "@Transactional");
		assertThatIllegalStateException()
			.isThrownBy(() -> inTransaction(TransactionDefinition.PROPAGATION_SUPPORTS,
					TransactionDefinition.ISOLATION_DEFAULT, (status) -> this.guard.check(KEY, 1)))
			.withMessageContaining("without a transaction");
	}

	@Test
	void transactionOfAnotherDataSourceIsRefusedWithARemedy() {
		JdbcTransactionManager other = new JdbcTransactionManager(Databases.h2().dataSource());
		assertThatIllegalStateException()
			.isThrownBy(() -> new TransactionTemplate(other).executeWithoutResult((status) -> this.guard.check(KEY, 1)))
			.withMessageContainingAll(KEY, "does not belong to the guard's DataSource", "transaction manager");
	}

	@Test
	void readOnlyTransactionIsRefused() {
		TransactionTemplate readOnly = new TransactionTemplate(this.transactions);
		readOnly.setReadOnly(true);
		assertThatIllegalStateException()
			.isThrownBy(() -> readOnly.executeWithoutResult((status) -> this.guard.check(KEY, 1)))
			.withMessageContainingAll(KEY, "read-only");
	}

	@Test
	void newTransactionThatWouldWaitForItsOwnThreadIsRefusedAtOnce() {
		inTransaction((status) -> {
			this.guard.check(KEY, 1);
			this.statements.clear();
			assertThatIllegalStateException().isThrownBy(() -> inNew((inner) -> this.guard.check(KEY, 1)))
				.withMessageContainingAll(KEY, "REQUIRES_NEW", "NESTED");
			assertThat(this.statements).isEmpty();
			inNew((inner) -> this.guard.check("order:43", 1));
			inNew((inner) -> this.guard.check("order:43", 1));
			this.guard.check(KEY, 1);
		});
		inNew((inner) -> this.guard.check(KEY, 2));
		assertThat(fencingToken(KEY)).isEqualTo(2);
	}

	@Test
	void newTransactionWhileAnotherDataSourceSuspendsTheCallbacksIsSeenToo() {
		JdbcTransactionManager other = new JdbcTransactionManager(Databases.h2().dataSource());
		inTransaction((status) -> {
			this.guard.check(KEY, 1);
			new TransactionTemplate(other).executeWithoutResult((between) -> {
				this.guard.check(KEY, 1);
				assertThatIllegalStateException().isThrownBy(() -> inNew((inner) -> this.guard.check(KEY, 1)))
					.withMessageContaining("REQUIRES_NEW");
			});
		});
	}

	@Test
	void nestedTransactionFencesTheSameRowAndFencesItAgainAfterASavepoint() {
		inTransaction((status) -> {
			inTransaction(TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.ISOLATION_DEFAULT,
					(nested) -> {
						this.guard.check(KEY, 1);
						nested.setRollbackOnly();
					});
			this.statements.clear();
			this.guard.check(KEY, 1);
			assertThat(this.statements).hasSize(2).element(this.shop.upserts() ? 0 : 1).asString().startsWith("INSERT");
			inTransaction(TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.ISOLATION_DEFAULT,
					(nested) -> this.guard.check(KEY, 2));
		});
		assertThat(fencingToken(KEY)).isEqualTo(2);
	}

	@Test
	void rowIsMadeInABranchOfXaWhichRefusesSavepoints() throws Exception {
		assumeThat(this.shop.database().platform()).isEqualTo("postgresql");
		PGXADataSource distributed = new PGXADataSource();
		distributed.setUrl(this.shop.database().url());
		distributed.setUser("postgres");
		XAConnection branch = distributed.getXAConnection();
		Xid xid = new BranchId(new byte[] { 1 }, new byte[] { 2 });
		try {
			Connection connection = branch.getConnection();
			JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
			branch.getXAResource().start(xid, XAResource.TMNOFLAGS);
			assertThatExceptionOfType(SQLException.class).isThrownBy(connection::setSavepoint);
			assertThat(new FenceTable(jdbc, "lock_fence").raise(connection, KEY, 3)).isEqualTo(3);
			branch.getXAResource().end(xid, XAResource.TMSUCCESS);
			branch.getXAResource().commit(xid, true);
		}
		finally {
			branch.close();
		}
		assertThat(fencingToken(KEY)).isEqualTo(3);
	}

	@Test
	void resourcesThatDifferInAnythingHaveRowsOfTheirOwn() {
		String longName = "x".repeat(400);
		List<String> resources = List.of("a", "A", "a ", "ä", "a\u0308", "a\0", "ﬁ", "fi", longName, longName + "x",
				"x".repeat(255), "\uD83D\uDE00".repeat(200), "\uD83D");
		inTransaction((status) -> {
			for (int i = 0; i < resources.size(); i++) {
				this.guard.check(resources.get(i), 100 - i);
			}
		});
		assertThat(this.jdbc.queryForList("SELECT resource FROM lock_fence", String.class)).hasSize(resources.size());
	}

	@Test
	void transactionAwareProxyIsTheSameDataSource() {
		FencingGuard guard = new JdbcFencingGuard(new TransactionAwareDataSourceProxy(this.dataSource));
		inTransaction((status) -> guard.check(KEY, 9));
		assertThat(fencingToken(KEY)).isEqualTo(9);
	}

	@Test
	void missingTableIsNamedTogetherWithTheScriptThatMakesIt() {
		FencingGuard guard = new JdbcFencingGuard(this.dataSource, "no_such_table");
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> inTransaction((status) -> guard.check(KEY, 1)))
			.withMessageContainingAll("'no_such_table'",
					"io/github/lockspring/fencing/lock-fence-" + this.shop.script(), "initialize-schema",
					"not apply to a guard that is defined as a bean");
	}

	@Test
	void tableMayBeInASchemaOfItsOwn() {
		this.jdbc.execute("CREATE SCHEMA IF NOT EXISTS locks");
		this.jdbc.execute("CREATE TABLE IF NOT EXISTS locks.fences (resource VARCHAR(255) PRIMARY KEY,"
				+ " fencing_token BIGINT, uses BIGINT, updated_at TIMESTAMP)");
		FencingGuard guard = new JdbcFencingGuard(this.dataSource, "locks.fences");
		inTransaction((status) -> guard.check(KEY, 4));
		assertThat(this.jdbc.queryForObject("SELECT fencing_token FROM locks.fences", Long.class)).isEqualTo(4);
		this.jdbc.execute("DROP TABLE locks.fences");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", "a b", "a;b", "1a", "a.b.c", ".a", "a.", "\"a\"", "a--", "ä" })
	void whatIsNoNameOfATableIsRefused(String name) {
		DataSource dataSource = Databases.h2().dataSource();
		assertThatIllegalArgumentException().isThrownBy(() -> new JdbcFencingGuard(dataSource, name))
			.withMessageContaining("'" + name + "'");
	}

	@Test
	void whatIsNoResourceOrTokenIsRefused() {
		FencingGuard guard = new JdbcFencingGuard(Databases.h2().dataSource());
		assertThatIllegalArgumentException().isThrownBy(() -> guard.check("", 1));
		assertThatIllegalArgumentException().isThrownBy(() -> guard.check(KEY, 0));
		assertThatIllegalArgumentException().isThrownBy(() -> guard.check(KEY, -1));
	}

	private void awaitInserts(int count) {
		await().until(() -> this.statements.stream()
			.filter((sql) -> sql.startsWith("INSERT INTO lock_fence"))
			.count() == count);
	}

	private void run(CompletableFuture<Void> result, Task task) {
		this.threads.execute(() -> {
			try {
				task.run();
				result.complete(null);
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
	}

	private interface Task {

		void run() throws Exception;

	}

	/**
	 * The name of a branch of a distributed transaction.
	 */
	private record BranchId(byte[] getGlobalTransactionId, byte[] getBranchQualifier) implements Xid {

		@Override
		public int getFormatId() {
			return 1;
		}

	}

	private void work(String resource, long token) {
		inTransaction((status) -> {
			this.guard.check(resource, token);
			write(token);
		});
	}

	private void write(long token) {
		this.jdbc.update("INSERT INTO written (token) VALUES (?)", token);
	}

	private List<Long> written() {
		return this.jdbc.queryForList("SELECT token FROM written ORDER BY token", Long.class);
	}

	private long fencingToken(String resource) {
		Long fencingToken = this.jdbc.queryForObject("SELECT fencing_token FROM lock_fence WHERE resource = ?",
				Long.class, resource);
		return (fencingToken != null) ? fencingToken : 0;
	}

	private void inTransaction(Consumer<TransactionStatus> work) {
		inTransaction(TransactionDefinition.ISOLATION_DEFAULT, work);
	}

	private void inNew(Consumer<TransactionStatus> work) {
		inTransaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.ISOLATION_DEFAULT, work);
	}

	private void inTransaction(int isolation, Consumer<TransactionStatus> work) {
		inTransaction(TransactionDefinition.PROPAGATION_REQUIRED, isolation, work);
	}

	private void inTransaction(int propagation, int isolation, Consumer<TransactionStatus> work) {
		TransactionTemplate template = new TransactionTemplate(this.transactions);
		template.setPropagationBehavior(propagation);
		template.setIsolationLevel(isolation);
		template.executeWithoutResult(work);
	}

	/**
	 * A database, and the name that it is given for what it is.
	 */
	record Shop(String name, Database database, @Nullable String product) {

		boolean upserts() {
			return this.name.contains("aria");
		}

		/** What the script that makes the table is called. */
		String script() {
			return upserts() ? "mariadb.sql" : this.name.contains("Oracle") ? "*.sql as a model" : this.name + ".sql";
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
