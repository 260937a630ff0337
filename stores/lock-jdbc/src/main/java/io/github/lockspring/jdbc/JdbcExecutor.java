package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
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
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.internal.base.DaemonThreadFactory;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes requests on connections of its own, in no transaction of the caller. The
 * caller waits no longer than its timeout, whatever the driver does. What the database
 * refuses because of a conflict is repeated until then. Thread-safe.
 * <p>
 * A worker thread takes a connection for one request and gives it back. Where the driver
 * can end a read of the socket after a time, half of the workers do nothing but lend
 * their connections to callers, which then execute their requests themselves: two changes
 * of threads less. Everything whose timeout is another one (a place in the pool,
 * connecting, the check of a pooled connection) stays with the workers, and so does H2,
 * which would close its database when a caller is interrupted.
 */
final class JdbcExecutor implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(JdbcExecutor.class);

	private static final long IDLE_SECONDS = 30;

	private static final long CLOSE_MILLIS = 500;

	private static final long MIN_PAUSE_MILLIS = 1;

	private static final long MAX_PAUSE_MILLIS = 20;

	private final DataSource dataSource;

	private final String table;

	private final String database;

	/** Why there was no connection last; null if there was one. */
	private volatile @Nullable SQLException notConnected;

	/** How many workers wait for a connection. */
	private final AtomicInteger connecting = new AtomicInteger();

	private final ThreadPoolExecutor threads;

	private final LentConnections lent;

	/**
	 * Creates an executor. Does not connect.
	 * @param database the address of the database, for messages, or empty
	 * @param lent the connections that callers of all executors of the store may use
	 */
	JdbcExecutor(DataSource dataSource, String table, String database, String name, int threads, LentConnections lent) {
		this.dataSource = dataSource;
		this.table = table;
		this.database = database;
		this.threads = new ThreadPoolExecutor(threads, threads, IDLE_SECONDS, TimeUnit.SECONDS,
				new LinkedBlockingQueue<>(), new DaemonThreadFactory(name));
		this.threads.allowCoreThreadTimeOut(true);
		this.lent = lent;
	}

	/**
	 * Executes a request and waits for its result.
	 * @param timeout how long to wait
	 * @throws LockUnavailableException if there is no result; the request may have been
	 * carried out, in part too, and a statement that has begun may yet be
	 */
	<T> T execute(Request<T> request, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		LentConnections.Loan loan = this.lent.take();
		if (loan == null) {
			T result = executeOnWorker(request, timeout, deadline);
			if (this.threads.getMaximumPoolSize() > 1) {
				this.lent.offer(this.threads, this::connect);
			}
			return result;
		}
		try {
			return loan.execute(request, deadline);
		}
		catch (SQLException ex) {
			boolean repeatable = JdbcErrors.isConflict(ex) || JdbcErrors.isConnectionLost(ex);
			if (repeatable && deadline - System.nanoTime() > 0) {
				// a pool would have found out that the connection was dead
				return executeOnWorker(request, timeout, deadline);
			}
			if (Thread.currentThread().isInterrupted()) {
				throw interrupted(ex);
			}
			throw (deadline - System.nanoTime() <= 0) ? JdbcErrors.timeout(timeout, this.database) : unavailable(ex);
		}
		catch (RuntimeException ex) {
			throw unavailable(ex);
		}
	}

	private <T> T executeOnWorker(Request<T> request, Duration timeout, long deadline) {
		FutureTask<T> task = new FutureTask<>(() -> repeat(request, deadline));
		try {
			this.threads.execute(task);
			return get(task, timeout, deadline);
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
			throw interrupted(ex);
		}
		catch (ExecutionException ex) {
			boolean late = ex.getCause() instanceof SQLTimeoutException && deadline - System.nanoTime() <= 0;
			throw late ? JdbcErrors.timeout(timeout, this.database) : unavailable(ex.getCause());
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

	private <T> T get(FutureTask<T> task, Duration timeout, long deadline)
			throws InterruptedException, ExecutionException, TimeoutException {
		long patience = timeout.toNanos() / 4;
		long left = deadline - System.nanoTime();
		if (left <= patience) {
			// a lent connection was lost late
			return task.get(left, TimeUnit.NANOSECONDS);
		}
		try {
			return task.get(patience, TimeUnit.NANOSECONDS);
		}
		catch (TimeoutException ex) {
			if (this.connecting.get() > 0) {
				this.lent.recall();
			}
			return task.get(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
		}
	}

	/**
	 * Executes a request in the background. A failure has no effect.
	 * @param timeout how long to repeat it
	 * @param end called when that is over, whatever came of it
	 */
	void start(Request<?> request, Duration timeout, Runnable end) {
		long deadline = System.nanoTime() + timeout.toNanos();
		try {
			this.threads.execute(new FutureTask<Object>(() -> repeat(request, deadline)) {
				@Override
				protected void done() {
					end.run();
				}
			});
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			logger.debug("A request was not sent", ex);
			end.run();
		}
	}

	private static LockUnavailableException interrupted(Exception cause) {
		return new LockUnavailableException(
				"interrupted while waiting for the database, which may have executed the statement all the same",
				cause);
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
				return once(request, deadline);
			}
			catch (SQLException ex) {
				if (!JdbcErrors.isConflict(ex) || deadline - System.nanoTime() <= 0) {
					throw ex;
				}
			}
			TimeUnit.MILLISECONDS.sleep(ThreadLocalRandom.current().nextLong(MIN_PAUSE_MILLIS, MAX_PAUSE_MILLIS));
		}
	}

	private <T> T once(Request<T> request, long deadline) throws SQLException {
		try (Connection connection = connect()) {
			JdbcCall call = JdbcCall.on(connection, deadline, false);
			// a silent server must not keep this thread for ever; where the driver has no
			// such timeout, that of the statement remains
			JdbcCall.boundSocket(connection, TimeUnit.SECONDS.toMillis(call.seconds() + 1));
			return call.execute(request);
		}
	}

	private Connection connect() throws SQLException {
		this.connecting.incrementAndGet();
		try {
			Connection connection = this.dataSource.getConnection();
			this.notConnected = null;
			return connection;
		}
		catch (SQLException ex) {
			this.notConnected = ex;
			throw ex;
		}
		finally {
			this.connecting.decrementAndGet();
		}
	}

	/**
	 * Ends the waits of callers. Statements that have begun go on: an interrupt could
	 * close the database of H2. Waits a moment for the end of those, and for lent
	 * connections to come back: the pool is usually closed next.
	 */
	@Override
	public void close() {
		this.threads.shutdown();
		List<Runnable> waiting = new ArrayList<>();
		this.threads.getQueue().drainTo(waiting);
		for (Runnable task : waiting) {
			// others lend a connection, which nobody takes any more
			if (task instanceof FutureTask<?> request) {
				request.cancel(false);
			}
		}
		try {
			this.threads.awaitTermination(CLOSE_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/**
	 * A request.
	 */
	interface Request<T> {

		T execute(JdbcCall call) throws SQLException;

	}

}
