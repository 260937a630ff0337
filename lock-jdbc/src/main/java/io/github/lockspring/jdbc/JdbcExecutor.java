package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.store.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes requests on threads and connections of its own, in no transaction of the
 * caller. The caller waits no longer than its timeout, whatever the driver does, and an
 * interrupt of the caller does not reach the driver (H2 would close its database).
 * Thread-safe.
 * <p>
 * A thread takes a connection for one request and gives it back. What the database
 * refuses because of a conflict is repeated until the caller's timeout.
 */
final class JdbcExecutor implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcExecutor.class);

	private static final long IDLE_SECONDS = 30;

	private static final long MIN_PAUSE_MILLIS = 1;

	private static final long MAX_PAUSE_MILLIS = 20;

	private final DataSource dataSource;

	private final String table;

	private final String database;

	/** Why there was no connection last; null if there was one. */
	private volatile @Nullable SQLException notConnected;

	private final ThreadPoolExecutor threads;

	/**
	 * Creates an executor. Does not connect.
	 * @param database the address of the database, for messages, or empty
	 */
	JdbcExecutor(DataSource dataSource, String table, String database, String name, int threads) {
		this.dataSource = dataSource;
		this.table = table;
		this.database = database;
		this.threads = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), new DaemonThreadFactory(name));
		this.threads.allowCoreThreadTimeOut(true);
	}

	/**
	 * Executes a request and waits for its result.
	 * @param timeout how long to wait
	 * @throws LockUnavailableException if there is no result; the request may have been
	 * carried out, or may yet be
	 */
	<T> T execute(Request<T> request, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		FutureTask<T> task = new FutureTask<>(() -> repeat(request, deadline));
		try {
			this.threads.execute(task);
			return task.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (RejectedExecutionException ex) {
			throw new LockUnavailableException("The lock store is closed", ex);
		}
		catch (TimeoutException ex) {
			// pools wait for a connection as long as callers for a result, or longer
			SQLException notConnected = this.notConnected;
			throw (notConnected != null) ? JdbcErrors.unavailable(notConnected, this.table, this.database)
					: JdbcErrors.timeout(timeout, this.database);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new LockUnavailableException(
					"interrupted while waiting for the database, which may have executed the statement all the same",
					ex);
		}
		catch (ExecutionException ex) {
			throw unavailable(ex.getCause());
		}
		catch (OutOfMemoryError ex) {
			throw new LockUnavailableException("There is no thread for a request to the database: " + ex.getMessage(),
					ex);
		}
		finally {
			// changes nothing for a task that has ended; one that has begun goes on
			if (task.cancel(false)) {
				this.threads.remove(task);
			}
		}
	}

	/**
	 * Executes a request in the background. A failure has no effect.
	 * @param timeout how long to repeat it
	 */
	void start(Request<?> request, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		try {
			this.threads.execute(new FutureTask<>(() -> repeat(request, deadline)));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A request was not sent", ex);
		}
	}

	private LockUnavailableException unavailable(@Nullable Throwable cause) {
		if (cause instanceof LockUnavailableException known) {
			return known;
		}
		if (cause instanceof SQLException failure) {
			return JdbcErrors.unavailable(failure, this.table, this.database);
		}
		return new LockUnavailableException("The driver of the database failed: " + cause, cause);
	}

	private <T> T repeat(Request<T> request, long deadline) throws SQLException, InterruptedException {
		while (true) {
			try {
				return once(request, deadline - System.nanoTime());
			}
			catch (SQLException ex) {
				if (!JdbcErrors.isConflict(ex) || deadline - System.nanoTime() <= 0) {
					throw ex;
				}
			}
			TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
		}
	}

	private <T> T once(Request<T> request, long remainingNanos) throws SQLException {
		int seconds = (int) Math.max(1, TimeUnit.NANOSECONDS.toSeconds(remainingNanos) + 1);
		try (Connection connection = connect()) {
			if (!connection.getAutoCommit()) {
				connection.setAutoCommit(true);
			}
			boundSocket(connection, seconds + 1);
			return request.execute(new JdbcCall(connection, seconds));
		}
	}

	private Connection connect() throws SQLException {
		try {
			Connection connection = this.dataSource.getConnection();
			this.notConnected = null;
			return connection;
		}
		catch (SQLException ex) {
			this.notConnected = ex;
			throw ex;
		}
	}

	/**
	 * A connection to a server that has fallen silent must not keep its thread for ever.
	 */
	private static void boundSocket(Connection connection, int seconds) {
		try {
			connection.setNetworkTimeout(Runnable::run, (int) TimeUnit.SECONDS.toMillis(seconds));
		}
		catch (SQLException | RuntimeException | AbstractMethodError ex) {
			// not every driver can; the timeout of the statement remains
		}
	}

	/**
	 * Ends the waits of callers. Statements that have begun go on: an interrupt could
	 * close the database of H2.
	 */
	@Override
	public void close() {
		this.threads.shutdown();
		List<Runnable> waiting = new ArrayList<>();
		this.threads.getQueue().drainTo(waiting);
		waiting.forEach((task) -> ((FutureTask<?>) task).cancel(false));
	}

	/**
	 * A request.
	 */
	interface Request<T> {

		T execute(JdbcCall call) throws SQLException;

	}

}
