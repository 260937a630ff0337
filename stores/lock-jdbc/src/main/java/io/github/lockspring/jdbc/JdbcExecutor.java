package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import javax.sql.DataSource;

import io.github.lockspring.LockUnavailableException;

/**
 * Executes requests on the caller's thread, each on a connection of its own from the
 * source, and outside the caller's transactions. Repeats a request that fails because of
 * a conflict, until its timeout. Thread-safe.
 * <p>
 * A request may exceed its timeout by the time that the {@link DataSource} takes to
 * provide a connection, so the timeout of a pool should be short. No statement begins
 * after the timeout. An interrupt does not end a request; the thread stays interrupted.
 */
final class JdbcExecutor implements AutoCloseable {

	private static final long CLOSE_MILLIS = 500;

	private static final long MIN_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

	private static final long MAX_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	private final DataSource dataSource;

	private final String table;

	private final String database;

	private final int connections;

	private final Semaphore free;

	private volatile boolean closed;

	/**
	 * Creates an executor. Does not connect.
	 * @param table the lock table, for messages
	 * @param database the address of the database, for messages, or empty
	 * @param connections the number of connections used at the same time; further callers
	 * wait
	 */
	JdbcExecutor(DataSource dataSource, String table, String database, int connections) {
		this.dataSource = dataSource;
		this.table = table;
		this.database = database;
		this.connections = connections;
		this.free = new Semaphore(connections, true);
	}

	/**
	 * Executes a request.
	 * @param timeout how long to wait for other callers and for the statements
	 * @throws LockUnavailableException if there is no result; the request may have been
	 * executed, even in part, and a statement that has begun may be executed later
	 */
	<T> T execute(Request<T> request, Duration timeout) {
		long deadline = System.nanoTime() + timeout.toNanos();
		boolean interrupted = false;
		try {
			while (true) {
				// pools reject interrupted threads
				interrupted |= Thread.interrupted();
				try {
					return once(request, timeout, deadline);
				}
				catch (InterruptedException ex) {
					interrupted = true;
				}
				catch (SQLException ex) {
					boolean again = JdbcErrors.isConflict(ex) || Thread.currentThread().isInterrupted();
					if (!again || deadline - System.nanoTime() <= 0) {
						throw JdbcErrors.unavailable(ex, this.table, this.database);
					}
					LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(MIN_PAUSE_NANOS, MAX_PAUSE_NANOS));
				}
			}
		}
		catch (RuntimeException ex) {
			throw (ex instanceof LockUnavailableException known) ? known
					: new LockUnavailableException("The driver of the database failed: " + ex, ex);
		}
		finally {
			if (interrupted) {
				Thread.currentThread().interrupt();
			}
		}
	}

	private <T> T once(Request<T> request, Duration timeout, long deadline) throws SQLException, InterruptedException {
		checkOpen();
		if (!this.free.tryAcquire(deadline - System.nanoTime(), TimeUnit.NANOSECONDS)) {
			throw JdbcErrors.timeout(timeout, this.database, null);
		}
		try {
			checkOpen();
			try (Connection connection = this.dataSource.getConnection()) {
				return execute(request, connection, timeout, deadline);
			}
		}
		finally {
			this.free.release();
		}
	}

	private <T> T execute(Request<T> request, Connection connection, Duration timeout, long deadline)
			throws SQLException {
		try {
			return JdbcCall.execute(connection, deadline, request);
		}
		catch (SQLException ex) {
			if (JdbcErrors.isReadOnly(ex)) {
				// the next connection may reach a new primary
				JdbcCall.abort(connection);
			}
			else if (deadline - System.nanoTime() <= 0) {
				throw JdbcErrors.timeout(timeout, this.database, ex);
			}
			throw ex;
		}
	}

	private void checkOpen() {
		if (this.closed) {
			throw new LockUnavailableException("The lock store is closed");
		}
	}

	/**
	 * Rejects further requests, and waits a moment for the running ones, since the pool
	 * is usually closed next.
	 */
	@Override
	public void close() {
		this.closed = true;
		try {
			if (this.free.tryAcquire(this.connections, CLOSE_MILLIS, TimeUnit.MILLISECONDS)) {
				this.free.release(this.connections);
			}
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
