package io.github.lockspring.jdbc;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

import javax.sql.DataSource;

import io.github.lockspring.HeldLock;
import io.github.lockspring.LockEvent;
import io.github.lockspring.LockLostException;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.StaleFencingTokenException;
import io.github.lockspring.fencing.JdbcFencingGuard;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.jdbc.PostgresServer;
import io.github.lockspring.testsupport.network.TcpProxy.Cut;
import io.github.lockspring.testsupport.network.TcpProxy;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when another server takes over the address of the database,
 * without the last commits, or without any. The fencing guard is in the same database.
 */
class JdbcFailoverTests {

	private static final Duration PATIENT = Duration.ofMinutes(1);

	private static final String KEY = "order 1";

	private static final LockRequest REQUEST = LockRequest.of(KEY).waitTime(PATIENT).ttl(Duration.ofSeconds(20));

	private static PostgresServer otherServer;

	/** Of the same name on both servers. */
	private final Database primary = Databases.postgres();

	private Database copy;

	private TcpProxy address;

	private Database database;

	private final List<JdbcInstance> instances = new ArrayList<>();

	private final ExecutorService threads = Executors.newCachedThreadPool();

	@BeforeAll
	static void start() {
		otherServer = PostgresServer.start();
	}

	@AfterAll
	static void end() {
		otherServer.close();
	}

	@BeforeEach
	void connect() {
		String server = this.primary.url().replaceAll("/\\w+$", "");
		String name = this.primary.url().substring(server.length());
		new JdbcTemplate(otherServer.database().dataSource()).execute("CREATE DATABASE " + name.substring(1));
		this.primary.withLocks().withFencingTokens();
		this.address = new TcpProxy(Integer.parseInt(server.replaceAll(".*:", "")));
		this.copy = at(otherServer.port(), name);
		this.database = at(this.address.port(), name);
	}

	private static Database at(int port, String name) {
		return new Database("postgresql", "jdbc:postgresql://127.0.0.1:" + port + name, "postgres", "");
	}

	@AfterEach
	void stop() {
		this.instances.forEach(JdbcInstance::close);
		this.threads.shutdownNow();
		this.address.close();
	}

	private JdbcInstance instance() {
		JdbcInstance instance = JdbcInstance.on(this.database);
		this.instances.add(instance);
		instance.locks().acquire(LockRequest.of("warm-up").waitTime(PATIENT)).close();
		return instance;
	}

	private Future<HeldLock> queued(JdbcInstance instance) {
		Future<HeldLock> waits = this.threads.submit(() -> instance.locks().acquire(REQUEST));
		await().atMost(PATIENT)
			.until(() -> !new JdbcTemplate(this.primary.dataSource())
				.queryForList("SELECT token FROM lock_lease_waiter")
				.isEmpty());
		return waits;
	}

	private void failOver() {
		this.address.target(otherServer.port());
		this.address.cut(Cut.RST);
	}

	private void replicate() {
		JdbcTemplate from = new JdbcTemplate(this.primary.dataSource());
		JdbcTemplate to = new JdbcTemplate(this.copy.withLocks().withFencingTokens().dataSource());
		for (String table : List.of("lock_lease", "lock_lease_waiter", "lock_fence")) {
			for (Map<String, Object> row : from.queryForList("SELECT * FROM " + table)) {
				to.update(
						"INSERT INTO " + table + " (" + String.join(", ", row.keySet()) + ") VALUES ("
								+ String.join(", ", Collections.nCopies(row.size(), "?")) + ")",
						row.values().toArray());
			}
		}
	}

	private void write(HeldLock lock) {
		DataSource source = this.database.dataSource();
		new TransactionTemplate(new JdbcTransactionManager(source))
			.executeWithoutResult((status) -> new JdbcFencingGuard(source).check(KEY, lock.fencingToken()));
	}

	private long lastWriter() {
		return new JdbcTemplate(this.database.dataSource()).queryForObject("SELECT fencing_token FROM lock_fence",
				Long.class);
	}

	private static void assertRenewalFindsTheLoss(JdbcInstance instance, HeldLock held) {
		await().atMost(PATIENT).until(() -> !held.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		await().atMost(PATIENT)
			.untilAsserted(
					() -> assertThat(instance.instance().events(LockEvent.Lost.class)).extracting(LockEvent.Lost::cause)
						.containsExactly(LockEvent.Lost.Cause.NOT_OWNER));
	}

	/** In the copy, an earlier holder has not released the lock, and has it for 2 s. */
	@Test
	@Tag("jdbc-failover")
	@Tag("jdbc-takeover")
	@Tag("leader-jdbc")
	void f11OlderCopyGivesTheLockAgainWithALargerTokenAndTheNextRenewalTellsTheHolder() throws Exception {
		JdbcInstance holder = instance();
		HeldLock earlier = holder.locks().acquire(LockRequest.of(KEY).ttl(PATIENT).renew(false));
		write(earlier);
		replicate();
		new JdbcTemplate(this.copy.dataSource()).update("UPDATE lock_lease SET expires_at = expires_at - ?",
				TimeUnit.SECONDS.toMicros(58));
		earlier.close();
		HeldLock held = holder.locks().acquire(REQUEST);
		write(held);
		Future<HeldLock> waits = queued(instance());
		failOver();
		assertThat(lastWriter()).as("went back with the data").isEqualTo(earlier.fencingToken());
		try (HeldLock next = waits.get(1, TimeUnit.MINUTES)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			write(next);
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(held));
			assertRenewalFindsTheLoss(holder, held);
			JdbcInstance.verify(next);
		}
	}

	@Test
	@Tag("jdbc-failover")
	@Tag("jdbc-takeover")
	@Tag("lost-data-jdbc")
	void f10EmptyCopyGivesTheLockAgainWithALargerTokenAndTheNextRenewalTellsTheHolder() throws Exception {
		this.copy.withLocks().withFencingTokens();
		JdbcInstance holder = instance();
		HeldLock held = holder.locks().acquire(REQUEST);
		write(held);
		Future<HeldLock> waits = queued(instance());
		failOver();
		try (HeldLock next = waits.get(1, TimeUnit.MINUTES)) {
			assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
			// nothing is known of the key, and no later holder has written
			write(held);
			write(next);
			assertThatExceptionOfType(StaleFencingTokenException.class).isThrownBy(() -> write(held));
			assertRenewalFindsTheLoss(holder, held);
			JdbcInstance.verify(next);
		}
	}

	@Test
	@Tag("jdbc-takeover")
	@Tag("lost-tables-jdbc")
	void f10CopyWithoutTablesEndsWaitsAtOnceAndLeasesAtTheirDeadlines() throws Exception {
		JdbcInstance holder = instance();
		JdbcInstance other = instance();
		HeldLock held = holder.locks().acquire(REQUEST.ttl(Duration.ofSeconds(3)));
		Future<HeldLock> waits = queued(other);
		failOver();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(() -> waits.get(40, TimeUnit.SECONDS))
			.as("it would wait for a minute")
			.havingCause()
			.isInstanceOf(LockUnavailableException.class)
			.withStackTraceContaining("'lock_lease'")
			.withStackTraceContaining("Create both in a migration")
			.matches((ex) -> ((LockUnavailableException) ex).isPermanent());
		await().atMost(PATIENT).until(() -> !held.isHeld());
		assertThatExceptionOfType(LockLostException.class).isThrownBy(held::close);
		this.copy.withLocks();
		await().atMost(PATIENT)
			.ignoreException(LockUnavailableException.class)
			.untilAsserted(() -> other.locks().acquire(REQUEST).close());
	}

}
