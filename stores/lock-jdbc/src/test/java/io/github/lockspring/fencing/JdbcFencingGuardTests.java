package io.github.lockspring.fencing;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
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
import static org.awaitility.Awaitility.await;

/**
 * The guard alone, in real transactions on real databases.
 */
@TestInstance(Lifecycle.PER_CLASS)
class JdbcFencingGuardTests {

	private static final String KEY = "order:42";

	private static final String WRITE = "INSERT INTO written (token) VALUES (?)";

	private final ExecutorService threads = Executors.newCachedThreadPool();

	private List<Shop> shops = List.of();

	@BeforeAll
	void makeDatabases() {
		List<Shop> shops = new ArrayList<>();
		shops.add(new Shop("h2", Databases.h2().withFencingTokens(), null));
		shops.add(new Shop("h2 as if it were MariaDB", Databases.h2(";MODE=MariaDB").withFencingTokens(), "MariaDB"));
		shops.add(new Shop("h2 as if it were Oracle", Databases.h2().withFencingTokens(), "Oracle"));
		shops.add(new Shop("postgresql", Databases.postgres().withFencingTokens(), null));
		Databases.mariaDb().map(Database::withFencingTokens).ifPresent((database) -> {
			shops.add(new Shop("mariadb", database, null));
			shops.add(new Shop("mariadb that counts changed rows", database.with("&useAffectedRows=true"), null));
		});
		this.shops = shops;
	}

	@AfterAll
	void endThreads() {
		this.threads.shutdownNow();
	}

	@BeforeEach
	void clear() {
		this.shops.forEach(Shop::clear);
	}

	Stream<Shop> shops() {
		return this.shops.stream();
	}

	Stream<Shop> postgres() {
		return shops().filter((shop) -> shop.platform.equals("postgresql"));
	}

	@ParameterizedTest
	@MethodSource("shops")
	void firstTokenMakesTheRow(Shop shop) {
		shop.work(KEY, 7);
		assertThat(shop.fencingToken(KEY)).isEqualTo(7);
		assertThat(shop.written()).containsExactly(7L);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void laterAndEqualTokensCostOneStatementEach(Shop shop) {
		shop.work(KEY, 7);
		for (long token : new long[] { 7, 8, 8, (1L << 53) - 1 }) {
			shop.statements.clear();
			shop.inTransaction((status) -> shop.guard.check(KEY, token));
			assertThat(shop.statements).singleElement().asString().startsWith(shop.raise);
			assertThat(shop.fencingToken(KEY)).isEqualTo(token);
		}
		assertThat(shop.jdbc.queryForObject("SELECT uses FROM lock_fence", Long.class)).isEqualTo(5);
	}

	@ParameterizedTest
	@MethodSource("shops")
	@Tag("overrun-fencing")
	void f03LateWriterIsRefusedAndRolledBack(Shop shop) {
		shop.work(KEY, 8);
		assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> shop.inTransaction((status) -> {
			shop.write(7);
			shop.guard.check(KEY, 7);
		})).satisfies((ex) -> {
			assertThat(ex.getResource()).isEqualTo(KEY);
			assertThat(ex.getToken()).isEqualTo(7);
			assertThat(ex.getLatest()).isEqualTo(8);
		});
		assertThat(shop.written()).containsExactly(8L);
		assertThat(shop.fencingToken(KEY)).isEqualTo(8);
		shop.work(KEY, 8);
	}

	@ParameterizedTest
	@MethodSource("shops")
	@Tag("no-late-writer")
	void f03LateWriterWaitsForTheTransactionOfTheLaterOneAndIsRefused(Shop shop) throws Exception {
		shop.work(KEY, 1);
		CompletableFuture<Void> late = new CompletableFuture<>();
		shop.inTransaction((status) -> {
			shop.guard.check(KEY, 3);
			shop.statements.clear();
			run(late, () -> shop.work(KEY, 2));
			await().until(() -> !shop.statements.isEmpty());
			assertThat(late).isNotDone();
			shop.write(3);
		});
		assertThat(late).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(StaleFencingTokenException.class);
		assertThat(shop.written()).containsExactly(1L, 3L);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void tokenOfATransactionThatRolledBackCountsForNothing(Shop shop) {
		shop.work(KEY, 1);
		shop.inTransaction((status) -> {
			shop.guard.check(KEY, 3);
			status.setRollbackOnly();
		});
		shop.work(KEY, 2);
		assertThat(shop.fencingToken(KEY)).isEqualTo(2);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void laterOneOfTwoWhoMakeTheRowWinsAndStaysUsable(Shop shop) throws Exception {
		CompletableFuture<Void> second = new CompletableFuture<>();
		shop.inTransaction((status) -> {
			shop.work(KEY, 1);
			run(second, () -> shop.work(KEY, 2));
			awaitInserts(shop, 2);
		});
		second.get(20, TimeUnit.SECONDS);
		assertThat(shop.written()).containsExactly(1L, 2L);
		assertThat(shop.fencingToken(KEY)).isEqualTo(2);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void earlierOneOfTwoWhoMakeTheRowIsRefused(Shop shop) {
		CompletableFuture<Void> second = new CompletableFuture<>();
		shop.inTransaction((status) -> {
			shop.work(KEY, 2);
			run(second, () -> shop.work(KEY, 1));
			awaitInserts(shop, 2);
		});
		assertThat(second).failsWithin(Duration.ofSeconds(20))
			.withThrowableThat()
			.withCauseInstanceOf(StaleFencingTokenException.class);
		assertThat(shop.written()).containsExactly(2L);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void rowIsMadeByTheSecondIfTheFirstRollsBack(Shop shop) throws Exception {
		CompletableFuture<Void> second = new CompletableFuture<>();
		shop.inTransaction((status) -> {
			shop.work(KEY, 2);
			run(second, () -> shop.work(KEY, 1));
			awaitInserts(shop, 2);
			status.setRollbackOnly();
		});
		second.get(20, TimeUnit.SECONDS);
		assertThat(shop.fencingToken(KEY)).isEqualTo(1);
		assertThat(shop.written()).containsExactly(1L);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void manyWhoMakeTheRowAtOnceAllGetThrough(Shop shop) {
		int writers = 6;
		CountDownLatch start = new CountDownLatch(1);
		List<CompletableFuture<Void>> all = Stream.generate(CompletableFuture<Void>::new).limit(writers).toList();
		all.forEach((each) -> run(each, () -> {
			start.await();
			shop.work(KEY, 5);
		}));
		start.countDown();
		CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).orTimeout(20, TimeUnit.SECONDS).join();
		assertThat(shop.written()).hasSize(writers);
		assertThat(shop.jdbc.queryForObject("SELECT uses FROM lock_fence", Long.class)).isEqualTo(writers);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void newRowsOfDifferentResourcesDoNotWaitForEachOther(Shop shop) throws Exception {
		CompletableFuture<Void> other = new CompletableFuture<>();
		shop.inTransaction((status) -> {
			shop.guard.check("order:1", 1);
			run(other, () -> shop.work("order:2", 2));
			other.orTimeout(20, TimeUnit.SECONDS).join();
			shop.guard.check("order:3", 3);
		});
		assertThat(shop.fencingToken("order:2")).isEqualTo(2);
		assertThat(shop.fencingToken("order:3")).isEqualTo(3);
	}

	@ParameterizedTest
	@MethodSource("postgres")
	void rowThatASnapshotDoesNotShowIsNoProofAgainstTheToken(Shop shop) {
		for (int isolation : new int[] { TransactionDefinition.ISOLATION_REPEATABLE_READ,
				TransactionDefinition.ISOLATION_SERIALIZABLE }) {
			shop.clear();
			assertThatExceptionOfType(ConcurrencyFailureException.class)
				.isThrownBy(() -> shop.inTransaction(isolation, (status) -> {
					assertThat(shop.written()).isEmpty();
					CompletableFuture<Void> other = new CompletableFuture<>();
					run(other, () -> shop.work(KEY, 1));
					other.orTimeout(20, TimeUnit.SECONDS).join();
					shop.guard.check(KEY, 2);
				}));
			shop.inTransaction(isolation, (status) -> shop.guard.check(KEY, 2));
			assertThat(shop.fencingToken(KEY)).isEqualTo(2);
		}
	}

	@ParameterizedTest
	@MethodSource("shops")
	void rowThatWasRaisedAfterASnapshotIsNeverLowered(Shop shop) {
		shop.work(KEY, 1);
		assertThatExceptionOfType(RuntimeException.class)
			.isThrownBy(() -> shop.inTransaction(TransactionDefinition.ISOLATION_REPEATABLE_READ, (status) -> {
				assertThat(shop.written()).containsExactly(1L);
				CompletableFuture<Void> other = new CompletableFuture<>();
				run(other, () -> shop.work(KEY, 3));
				other.orTimeout(20, TimeUnit.SECONDS).join();
				shop.guard.check(KEY, 2);
			}))
			.satisfies((ex) -> assertThat(ex).isInstanceOfAny(ConcurrencyFailureException.class,
					StaleFencingTokenException.class));
		assertThat(shop.fencingToken(KEY)).isEqualTo(3);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void callWithoutTransactionIsRefusedWithARemedy(Shop shop) {
		assertThatIllegalStateException().isThrownBy(() -> shop.guard.check(KEY, 1))
			.withMessageContainingAll(KEY, "without a transaction", "@Transactional");
		assertThatIllegalStateException()
			.isThrownBy(() -> shop.inTransaction(TransactionDefinition.PROPAGATION_SUPPORTS,
					TransactionDefinition.ISOLATION_DEFAULT, (status) -> shop.guard.check(KEY, 1)))
			.withMessageContaining("without a transaction");
	}

	@ParameterizedTest
	@MethodSource("shops")
	void transactionOfAnotherDataSourceIsRefusedWithARemedy(Shop shop) {
		JdbcTransactionManager other = new JdbcTransactionManager(Databases.h2().dataSource());
		assertThatIllegalStateException()
			.isThrownBy(() -> new TransactionTemplate(other).executeWithoutResult((status) -> shop.guard.check(KEY, 1)))
			.withMessageContainingAll(KEY, "does not belong to the guard's DataSource", "transaction manager");
	}

	@ParameterizedTest
	@MethodSource("shops")
	void readOnlyTransactionIsRefused(Shop shop) {
		TransactionTemplate readOnly = new TransactionTemplate(shop.transactions);
		readOnly.setReadOnly(true);
		assertThatIllegalStateException()
			.isThrownBy(() -> readOnly.executeWithoutResult((status) -> shop.guard.check(KEY, 1)))
			.withMessageContainingAll(KEY, "read-only");
	}

	@ParameterizedTest
	@MethodSource("shops")
	void newTransactionThatWouldWaitForItsOwnThreadIsRefusedAtOnce(Shop shop) {
		shop.inTransaction((status) -> {
			shop.guard.check(KEY, 1);
			shop.statements.clear();
			assertThatIllegalStateException().isThrownBy(() -> shop.inNew((inner) -> shop.guard.check(KEY, 1)))
				.withMessageContainingAll(KEY, "REQUIRES_NEW", "NESTED");
			assertThat(shop.statements).isEmpty();
			shop.inNew((inner) -> shop.guard.check("order:43", 1));
			shop.inNew((inner) -> shop.guard.check("order:43", 1));
			shop.guard.check(KEY, 1);
		});
		shop.inNew((inner) -> shop.guard.check(KEY, 2));
		assertThat(shop.fencingToken(KEY)).isEqualTo(2);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void newTransactionWhileAnotherDataSourceSuspendsTheCallbacksIsSeenToo(Shop shop) {
		JdbcTransactionManager other = new JdbcTransactionManager(Databases.h2().dataSource());
		shop.inTransaction((status) -> {
			shop.guard.check(KEY, 1);
			new TransactionTemplate(other).executeWithoutResult((between) -> {
				shop.guard.check(KEY, 1);
				assertThatIllegalStateException().isThrownBy(() -> shop.inNew((inner) -> shop.guard.check(KEY, 1)))
					.withMessageContaining("REQUIRES_NEW");
			});
		});
	}

	@ParameterizedTest
	@MethodSource("shops")
	void nestedTransactionFencesTheSameRowAndFencesItAgainAfterASavepoint(Shop shop) {
		shop.inTransaction((status) -> {
			shop.inTransaction(TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.ISOLATION_DEFAULT,
					(nested) -> {
						shop.guard.check(KEY, 1);
						nested.setRollbackOnly();
					});
			shop.statements.clear();
			shop.guard.check(KEY, 1);
			assertThat(shop.statements).hasSize(2).element(shop.upserts ? 0 : 1).asString().startsWith("INSERT");
			shop.inTransaction(TransactionDefinition.PROPAGATION_NESTED, TransactionDefinition.ISOLATION_DEFAULT,
					(nested) -> shop.guard.check(KEY, 2));
		});
		assertThat(shop.fencingToken(KEY)).isEqualTo(2);
	}

	@ParameterizedTest
	@MethodSource("postgres")
	void rowIsMadeInABranchOfXaWhichRefusesSavepoints(Shop shop) throws Exception {
		PGXADataSource distributed = new PGXADataSource();
		distributed.setUrl(shop.url);
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
		assertThat(shop.fencingToken(KEY)).isEqualTo(3);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void resourcesThatDifferInAnythingHaveRowsOfTheirOwn(Shop shop) {
		String longName = "x".repeat(400);
		List<String> resources = List.of("a", "A", "a ", "ä", "a\u0308", "a\0", "ﬁ", "fi", longName, longName + "x",
				"x".repeat(255), "\uD83D\uDE00".repeat(200), "\uD83D");
		shop.inTransaction((status) -> {
			for (int i = 0; i < resources.size(); i++) {
				shop.guard.check(resources.get(i), 100 - i);
			}
		});
		assertThat(shop.jdbc.queryForList("SELECT resource FROM lock_fence", String.class)).hasSize(resources.size());
	}

	@ParameterizedTest
	@MethodSource("shops")
	void transactionAwareProxyIsTheSameDataSource(Shop shop) {
		FencingGuard guard = new JdbcFencingGuard(new TransactionAwareDataSourceProxy(shop.dataSource));
		shop.inTransaction((status) -> guard.check(KEY, 9));
		assertThat(shop.fencingToken(KEY)).isEqualTo(9);
	}

	@ParameterizedTest
	@MethodSource("shops")
	void missingTableIsNamedTogetherWithTheScriptThatMakesIt(Shop shop) {
		FencingGuard guard = new JdbcFencingGuard(shop.dataSource, "no_such_table");
		assertThatExceptionOfType(InvalidDataAccessResourceUsageException.class)
			.isThrownBy(() -> shop.inTransaction((status) -> guard.check(KEY, 1)))
			.withMessageContainingAll("'no_such_table'", "io/github/lockspring/fencing/lock-fence-" + shop.script,
					"initialize-schema", "not apply to a guard that is defined as a bean");
	}

	@ParameterizedTest
	@MethodSource("shops")
	void tableMayBeInASchemaOfItsOwn(Shop shop) {
		shop.jdbc.execute("CREATE SCHEMA IF NOT EXISTS locks");
		shop.jdbc.execute("CREATE TABLE IF NOT EXISTS locks.fences (resource VARCHAR(255) PRIMARY KEY,"
				+ " fencing_token BIGINT, uses BIGINT, updated_at TIMESTAMP)");
		FencingGuard guard = new JdbcFencingGuard(shop.dataSource, "locks.fences");
		shop.inTransaction((status) -> guard.check(KEY, 4));
		assertThat(shop.jdbc.queryForObject("SELECT fencing_token FROM locks.fences", Long.class)).isEqualTo(4);
		shop.jdbc.execute("DROP TABLE locks.fences");
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

	private static void awaitInserts(Shop shop, int count) {
		await().until(() -> shop.statements.stream()
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

	/**
	 * A database with a table to write to.
	 */
	static final class Shop {

		private final String name;

		final String platform;

		final RecordingDataSource dataSource;

		final List<String> statements;

		final JdbcTemplate jdbc;

		final PlatformTransactionManager transactions;

		final FencingGuard guard;

		final boolean upserts;

		/** What the script that makes the table is called. */
		final String script;

		final String url;

		/** Begin of the statement that is enough once the row is there. */
		final String raise;

		Shop(String name, Database database, @Nullable String product) {
			this.name = name;
			this.platform = database.platform();
			this.dataSource = new RecordingDataSource(database.dataSource(), product);
			this.statements = this.dataSource.statements();
			this.jdbc = new JdbcTemplate(this.dataSource);
			this.transactions = new JdbcTransactionManager(this.dataSource);
			this.guard = new JdbcFencingGuard(this.dataSource);
			this.upserts = name.contains("aria");
			this.script = this.upserts ? "mariadb.sql" : name.contains("Oracle") ? "*.sql as a model" : name + ".sql";
			this.url = database.url();
			this.raise = (this.upserts ? "INSERT INTO " : "UPDATE ") + "lock_fence";
			this.jdbc.execute("CREATE TABLE IF NOT EXISTS written (token BIGINT)");
		}

		void clear() {
			this.jdbc.update("DELETE FROM lock_fence");
			this.jdbc.update("DELETE FROM written");
			this.statements.clear();
		}

		void work(String resource, long token) {
			inTransaction((status) -> {
				this.guard.check(resource, token);
				write(token);
			});
		}

		void write(long token) {
			this.jdbc.update(WRITE, token);
		}

		List<Long> written() {
			return this.jdbc.queryForList("SELECT token FROM written ORDER BY token", Long.class);
		}

		long fencingToken(String resource) {
			Long fencingToken = this.jdbc.queryForObject("SELECT fencing_token FROM lock_fence WHERE resource = ?",
					Long.class, resource);
			return (fencingToken != null) ? fencingToken : 0;
		}

		void inTransaction(Consumer<TransactionStatus> work) {
			inTransaction(TransactionDefinition.ISOLATION_DEFAULT, work);
		}

		void inNew(Consumer<TransactionStatus> work) {
			inTransaction(TransactionDefinition.PROPAGATION_REQUIRES_NEW, TransactionDefinition.ISOLATION_DEFAULT,
					work);
		}

		void inTransaction(int isolation, Consumer<TransactionStatus> work) {
			inTransaction(TransactionDefinition.PROPAGATION_REQUIRED, isolation, work);
		}

		void inTransaction(int propagation, int isolation, Consumer<TransactionStatus> work) {
			TransactionTemplate template = new TransactionTemplate(this.transactions);
			template.setPropagationBehavior(propagation);
			template.setIsolationLevel(isolation);
			template.executeWithoutResult(work);
		}

		@Override
		public String toString() {
			return this.name;
		}

	}

}
