package io.github.lockspring.jdbc;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Deque;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

import io.github.lockspring.LockUnavailableException;
import io.github.lockspring.jdbc.JdbcExecutor.Request;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connections that workers lend to callers. A worker takes a connection from the pool,
 * lends it, and gives it back to the pool when nobody has used it for some seconds, when
 * it is broken, or after a minute, so that the pool can replace it. A caller never
 * connects, and never waits for a connection. Thread-safe.
 */
final class LentConnections implements AutoCloseable {

	private static final Logger logger = LoggerFactory.getLogger(LentConnections.class);

	private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(1);

	private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);

	private static final long MAX_AGE_NANOS = TimeUnit.MINUTES.toNanos(1);

	/** Only to find out whether the driver has such a timeout. */
	private static final long PROBE_MILLIS = Duration.ofSeconds(5).toMillis();

	/** Stays negative when those that are lent come back. */
	private static final int NEVER = Integer.MIN_VALUE / 2;

	/** How many more may be lent. */
	private final AtomicInteger free;

	private final Deque<Loan> idle = new ConcurrentLinkedDeque<>();

	private final Set<Loan> all = ConcurrentHashMap.newKeySet();

	private volatile long recalledAt = System.nanoTime() - MAX_AGE_NANOS;

	private volatile boolean recalled;

	private volatile boolean closed;

	/**
	 * Lends nothing yet.
	 * @param limit the number of connections that may be lent at the same time
	 */
	LentConnections(int limit) {
		this.free = new AtomicInteger(limit);
	}

	/** Takes a connection that no other caller uses, the last used one; null if none. */
	@Nullable Loan take() {
		return this.closed ? null : this.idle.pollFirst();
	}

	/**
	 * Takes a connection away from callers, the next one that is idle, since a worker
	 * waits: the pool may be smaller than the store was told. None is lent for a while.
	 */
	void recall() {
		if (this.all.isEmpty()) {
			return;
		}
		this.recalledAt = System.nanoTime();
		this.recalled = true;
		Loan loan = this.idle.pollLast();
		if (loan != null) {
			loan.giveBack(true);
		}
	}

	/** Lets a worker lend one more connection. Does not wait. */
	void offer(Executor workers, ConnectionSource source) {
		if (System.nanoTime() - this.recalledAt < MAX_AGE_NANOS) {
			return;
		}
		if (this.free.get() <= 0 || this.free.getAndUpdate((left) -> (left > 0) ? left - 1 : left) <= 0) {
			return;
		}
		try {
			workers.execute(() -> lend(source));
		}
		catch (RejectedExecutionException | OutOfMemoryError ex) {
			this.free.incrementAndGet();
		}
	}

	private void lend(ConnectionSource source) {
		try (Connection connection = source.connect()) {
			if (!isEndedBySocket(connection)) {
				this.free.set(NEVER);
				return;
			}
			Loan loan = new Loan(connection, Thread.currentThread());
			this.all.add(loan);
			this.idle.addFirst(loan);
			while (!loan.isOver()) {
				LockSupport.parkNanos(this, LOOK_NANOS);
			}
			this.all.remove(loan);
		}
		catch (SQLException | RuntimeException ex) {
			// also when the pool was closed meanwhile
			logger.debug("A connection could not be lent or given back", ex);
		}
		finally {
			this.free.incrementAndGet();
		}
	}

	/**
	 * Whether the timeout of a socket ends a statement: with the drivers that are tested.
	 * H2 has none, and would close its database when a caller is interrupted.
	 */
	private static boolean isEndedBySocket(Connection connection) throws SQLException {
		String product = connection.getMetaData().getDatabaseProductName();
		return Dialect.of(product).filter((dialect) -> dialect != Dialect.H2).isPresent()
				&& JdbcCall.boundSocket(connection, PROBE_MILLIS);
	}

	@Override
	public void close() {
		this.closed = true;
		this.all.forEach((loan) -> LockSupport.unpark(loan.lender));
	}

	/**
	 * Opens connections.
	 */
	interface ConnectionSource {

		Connection connect() throws SQLException;

	}

	/**
	 * A connection that one caller uses at a time.
	 */
	final class Loan {

		private final Connection connection;

		private final Thread lender;

		private final long begin = System.nanoTime();

		private volatile long usedAt = this.begin;

		private volatile boolean ended;

		private Loan(Connection connection, Thread lender) {
			this.connection = connection;
			this.lender = lender;
		}

		/**
		 * Executes a request on the calling thread. An error other than a conflict ends
		 * the loan: the answer may yet arrive, and be taken for that of the next request.
		 */
		<T> T execute(Request<T> request, long deadline) throws SQLException {
			boolean usable = false;
			try {
				T result = JdbcCall.on(this.connection, deadline, true).execute(request);
				// a notification that failed is no failure, and may have ended it
				usable = !this.connection.isClosed();
				return result;
			}
			catch (LockUnavailableException ex) {
				usable = true;
				throw ex;
			}
			catch (SQLException ex) {
				usable = JdbcErrors.isConflict(ex);
				throw ex;
			}
			finally {
				giveBack(usable);
			}
		}

		private void giveBack(boolean usable) {
			this.usedAt = System.nanoTime();
			if (usable && !LentConnections.this.recalled) {
				LentConnections.this.idle.addFirst(this);
			}
			else {
				LentConnections.this.recalled = false;
				this.ended = true;
				LockSupport.unpark(this.lender);
			}
		}

		/** Whether the lender has its connection back. */
		private boolean isOver() {
			long now = System.nanoTime();
			boolean enough = LentConnections.this.closed || now - this.usedAt >= IDLE_NANOS
					|| now - this.begin >= MAX_AGE_NANOS;
			return this.ended || (enough && LentConnections.this.idle.remove(this));
		}

	}

}
