package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.github.lockspring.HeldLock;
import io.github.lockspring.LockRequest;
import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.Inbox;
import io.github.lockspring.store.LockStore.AcquireRequest;
import io.github.lockspring.store.LockStore;
import io.github.lockspring.store.OwnerToken;
import io.github.lockspring.testsupport.jdbc.Databases.Database;
import io.github.lockspring.testsupport.jdbc.Databases;
import io.github.lockspring.testsupport.network.TcpProxy;
import io.github.lockspring.testsupport.store.JoinedStore;
import io.github.lockspring.testsupport.store.RecordingListener;
import io.github.lockspring.testsupport.store.RecordingListener.Wanted;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.test.util.ReflectionTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The connection on which an instance learns what happens to its locks: when it is
 * opened, confirmed, and given back.
 */
@ExtendWith(OutputCaptureExtension.class)
class PostgresListenerTests {

	private static final Duration TIMEOUT = Duration.ofSeconds(20);

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Duration BRIEF = Duration.ofMillis(400);

	private static final String INSTANCE = "listener-tests-instanc";

	private final Database database = Databases.postgres().withLocks();

	private final HikariDataSource pool = JdbcInstance.pool(this.database);

	private final Map<String, JdbcInbox> open = new ConcurrentHashMap<>();

	private final RecordingListener listener = new RecordingListener();

	private JdbcExecutor requests = requests(this.database.dataSource());

	private Inbox inbox = inbox(this.pool, LONG, Integer.MAX_VALUE);

	@AfterEach
	void close() {
		this.inbox.close();
		this.requests.close();
		this.pool.close();
	}

	private static JdbcExecutor requests(DataSource source) {
		return new JdbcExecutor(source, "lock_lease", "", 1);
	}

	/**
	 * Creates an inbox.
	 * @param openings after how many attempts to listen it fails to make another
	 */
	private JdbcInbox inbox(DataSource source, Duration idle, int openings) {
		AtomicInteger left = new AtomicInteger(openings);
		return new JdbcInbox(this.open, INSTANCE, this.listener, () -> {
			if (left.getAndDecrement() <= 0) {
				throw new LockUnavailableException("no more openings in this test");
			}
			return new PostgresListener(source, this.requests, INSTANCE, "lock:", Map.of());
		}, idle);
	}

	private int listening() {
		HikariPoolMXBean started = this.pool.getHikariPoolMXBean();
		return (started != null) ? started.getActiveConnections() : 0;
	}

	private List<String> channelsOfThePool() {
		return new JdbcTemplate(this.pool).queryForList("SELECT pg_listening_channels()", String.class);
	}

	@Test
	void connectionIsGivenBackWhenNobodyHasNeededItForAWhile() throws InterruptedException {
		this.pool.setMaximumPoolSize(1);
		JdbcInbox brief = inbox(this.pool, BRIEF, Integer.MAX_VALUE);
		this.inbox = brief;
		OwnerToken waiting = new OwnerToken(INSTANCE, 1, 1000);
		brief.open();
		// not only once it is confirmed: on a busy machine, it would have been idle by
		// then
		brief.add("order 1", waiting);
		await().until(brief::isConfirmed);
		TimeUnit.MILLISECONDS.sleep(3 * BRIEF.toMillis());
		assertThat(brief.isConfirmed()).isTrue();
		brief.remove(waiting);
		await().until(() -> !brief.isConfirmed());
		assertThat(this.open).isEmpty();
		await().until(() -> listening() == 0);
		assertThat(channelsOfThePool()).isEmpty();
		brief.open();
		await().until(brief::isConfirmed);
	}

	/** A driver may still have messages for the one who had the connection before. */
	@Test
	void messageForAFormerOpeningIsNotTakenForOneOfTheNext() throws SQLException {
		this.pool.setMaximumPoolSize(1);
		// that of the test itself, on a busy machine
		this.pool.setConnectionTimeout(Duration.ofMinutes(1).toMillis());
		OwnerToken waiting = new OwnerToken(INSTANCE, 1, 1000);
		String channel = PostgresNotifications.channel(INSTANCE);
		try (Connection connection = this.pool.getConnection(); Statement statement = connection.createStatement()) {
			statement.execute("LISTEN \"" + channel + '"');
			new JdbcTemplate(this.database.dataSource()).queryForList("SELECT pg_notify(?, ?)", channel,
					"w " + waiting + " lock:order 1");
			statement.execute("SELECT 1");
			statement.execute("UNLISTEN *");
		}
		this.inbox.open();
		await().until(this.inbox::isConfirmed);
		assertThat(this.listener.wanted).isEmpty();
	}

	/** An application that ends closes the store, and the pool right after it. */
	@Test
	void poolThatIsClosedWhileTheInboxStillListensWarnsOfNothing(CapturedOutput output) {
		this.inbox.open();
		await().until(this.inbox::isConfirmed);
		this.inbox.close();
		this.pool.close();
		await().until(() -> Thread.getAllStackTraces()
			.keySet()
			.stream()
			.noneMatch((thread) -> thread.getName().startsWith("lock-jdbc-inbox")));
		assertThat(output).doesNotContain("marked as broken");
	}

	/** As behind a pooler. */
	private void loseNotifications() {
		this.requests.close();
		this.requests = requests(Databases.postgres().dataSource());
	}

	@Test
	void instanceWithoutNotificationsStopsToTryWhenNobodyWaits() throws InterruptedException {
		this.pool.setMaximumPoolSize(1);
		loseNotifications();
		this.inbox = inbox(this.pool, BRIEF, Integer.MAX_VALUE);
		this.inbox.open();
		await().until(this.open::isEmpty);
		this.inbox.open();
		for (long end = System.nanoTime() + 6 * BRIEF.toNanos(); System.nanoTime() - end < 0;) {
			// as a waiter does that polls
			this.inbox.open();
			assertThat(this.open).isNotEmpty();
			TimeUnit.MILLISECONDS.sleep(50);
		}
		await().until(this.open::isEmpty);
		await().until(() -> listening() == 0);
		assertThat(channelsOfThePool()).isEmpty();
	}

	@Test
	void instanceWithoutAConnectionStopsToTryWhenNobodyWaits() {
		this.inbox = inbox(this.pool, BRIEF, 0);
		this.inbox.open();
		assertThat(this.open).isNotEmpty();
		await().until(this.open::isEmpty);
	}

	/** It goes back to its pool, and listening on it cannot be ended. */
	@Test
	void connectionThatMayStillListenIsClosed() throws SQLException {
		try (Connection target = this.database.dataSource().getConnection()) {
			AtomicBoolean listens = new AtomicBoolean();
			this.inbox = inbox(new InterceptedDataSource(new SingleConnectionDataSource(target, true),
					(sql, method, arguments, call) -> {
						if (method.getName().equals("unwrap") && listens.getAndSet(true)) {
							throw new SQLException("refused by this test");
						}
						return call.proceed();
					}), BRIEF, 1);
			this.inbox.open();
			await().until(this.inbox::isConfirmed);
			await().until(target::isClosed);
		}
	}

	/** The first message to itself is lost, and the next one takes a while. */
	@Test
	void eachAttemptToListenHasTimeToBeConfirmed() {
		DataSource elsewhere = Databases.postgres().dataSource();
		AtomicInteger probes = new AtomicInteger();
		this.requests.close();
		this.requests = requests(new DelegatingDataSource(this.database.dataSource()) {
			@Override
			public Connection getConnection() throws SQLException {
				if (probes.getAndIncrement() == 0) {
					return elsewhere.getConnection();
				}
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(700));
				return super.getConnection();
			}
		});
		this.inbox.open();
		await().atMost(TIMEOUT).until(this.inbox::isConfirmed);
	}

	/** The server says nothing, and the connection looks alive. */
	@Test
	void connectionWhoseServerDoesNotAnswerIsGivenUp() {
		String url = this.database.url();
		Matcher port = Pattern.compile(":(\\d+)/").matcher(url);
		assertThat(port.find()).isTrue();
		try (TcpProxy proxy = new TcpProxy(Integer.parseInt(port.group(1)))) {
			Database through = new Database("postgresql", url.replace(port.group(), ":" + proxy.port() + '/'),
					this.database.user(), this.database.password());
			this.inbox = inbox(through.dataSource(), LONG, Integer.MAX_VALUE);
			this.inbox.open();
			await().until(this.inbox::isConfirmed);
			proxy.stall();
			await().atMost(TIMEOUT).until(() -> !this.inbox.isConfirmed());
			proxy.restore();
			await().atMost(TIMEOUT).until(this.inbox::isConfirmed);
			assertThat(this.listener.opened).as("once for each connection").hasValue(2);
		}
	}

	@Test
	void idleInstanceListensToNothing() throws Exception {
		LockRequest request = LockRequest.of("order 1").waitTime(LONG);
		try (JdbcInstance instance = JdbcInstance.on(this.database);
				JdbcInstance other = JdbcInstance.on(this.database)) {
			// connections of an earlier test end by themselves
			await().atMost(TIMEOUT).until(() -> listeners() == 0);
			instance.locks().acquire(request).close();
			assertThat(listeners()).as("no other caller has waited").isZero();
			HeldLock held = instance.locks().acquire(request);
			CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> other.locks().acquire(request).close(),
					(task) -> new Thread(task).start());
			await().until(() -> listeners() > 0);
			held.close();
			waits.get(1, TimeUnit.MINUTES);
		}
	}

	private long listeners() {
		return new JdbcTemplate(this.database.dataSource()).queryForObject(
				// the last statement of a connection: a listener asks now and then
				// whether it lives
				"SELECT COUNT(*) FROM pg_stat_activity WHERE datname = current_database()"
						+ " AND (query LIKE 'LISTEN%' OR query = 'SELECT 1')",
				Long.class);
	}

	/** Its row has a hash in the place of the key. */
	@Test
	void ownerOfALongKeyIsToldThatOthersWait() {
		String key = "k".repeat(300);
		try (LockStore store = JdbcLockStore.builder(this.pool).build()) {
			OwnerToken owner = new OwnerToken(INSTANCE, 1, 1000);
			this.inbox = store.inbox(INSTANCE, this.listener).orElseThrow();
			this.inbox.open();
			await().until(this.inbox::isConfirmed);
			acquire(store, key, owner);
			acquire(store, key, new OwnerToken("another-instance-00000", 1, 1000));
			await().until(() -> !this.listener.wanted.isEmpty());
			assertThat(this.listener.wanted).containsExactly(new Wanted(key, owner));
		}
	}

	@Test
	void storeForgetsTheInboxOfAnEngineThatHasStopped() {
		try (LockStore store = JdbcLockStore.builder(this.pool).build()) {
			Inbox first = store.inbox(INSTANCE, this.listener).orElseThrow();
			first.open();
			assertThat((Map<?, ?>) ReflectionTestUtils.getField(store, "inboxes")).hasSize(1);
			first.close();
			assertThat((Map<?, ?>) ReflectionTestUtils.getField(store, "inboxes")).isEmpty();
		}
	}

	private static void acquire(LockStore store, String key, OwnerToken token) {
		new JoinedStore(store).acquire(new AcquireRequest(key, token, LONG, true), TIMEOUT);
	}

}
