package io.github.lockspring.lab.worker;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import io.github.lockspring.lab.server.RedisConnection;
import org.h2.jdbcx.JdbcConnectionPool;
import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * A shop in one run: what a recipe needs to sell a seat, and to say what it does.
 */
public final class Shop implements AutoCloseable {

	private static final AtomicInteger HOLDS = new AtomicInteger();

	private static final long PAYMENT_MILLIS = 40;

	private final RunSetup setup;

	private final Reporter reporter;

	private final Points points;

	private final ShopClock clock;

	private final JdbcConnectionPool database;

	private final JdbcTemplate jdbc;

	private final List<Redis> connections = new ArrayList<>();

	private final AtomicReference<@Nullable String> hold = new AtomicReference<>();

	private int orders;

	private volatile boolean waiting;

	private boolean busy;

	private volatile boolean failingWork;

	private volatile boolean soldOut;

	Shop(RunSetup setup, Reporter reporter, Points points, ShopClock clock) {
		this.setup = setup;
		this.reporter = reporter;
		this.points = points;
		this.clock = clock;
		this.database = JdbcConnectionPool.create(setup.database(), "sa", "");
		this.jdbc = new JdbcTemplate(this.database);
	}

	/**
	 * Returns the name of this shop.
	 * @return the name, such as {@code shop-1}
	 */
	public String name() {
		return this.setup.shop();
	}

	/**
	 * Returns the lease of the lock.
	 * @return the lease
	 */
	public Duration ttl() {
		return Duration.ofMillis(this.setup.ttlMillis());
	}

	/**
	 * Returns the wall clock of this shop.
	 * @return the clock
	 */
	public Clock clock() {
		return this.clock;
	}

	/**
	 * Returns the properties of Lockspring in this run.
	 * @return names and values
	 */
	public Map<String, String> properties() {
		return this.setup.properties();
	}

	/**
	 * Returns the ports of the Redis servers.
	 * @return the ports
	 */
	public List<Integer> ports() {
		return this.setup.servers().stream().map(RunSetup.ServerAddress::port).toList();
	}

	/**
	 * Returns the Redis server that has the lock.
	 * @return its name, or null if there are several
	 */
	public @Nullable String server() {
		return (this.setup.servers().size() == 1) ? this.setup.servers().get(0).id() : null;
	}

	/**
	 * Returns the database of the sale.
	 * @return the data source
	 */
	public DataSource database() {
		return this.database;
	}

	/**
	 * Opens a connection to the first Redis server.
	 * @return the connection
	 */
	public Redis connect() {
		return connect(0, Duration.ofSeconds(5));
	}

	/**
	 * Opens a connection to a Redis server.
	 * @param server the number of the server, from 0
	 * @param timeout the maximum wait for an answer
	 * @return the connection
	 */
	public Redis connect(int server, Duration timeout) {
		Redis connection = new Redis(this.setup.servers().get(server), timeout, this.reporter, this.points);
		this.connections.add(connection);
		return connection;
	}

	/**
	 * Does once what each sale does, without an effect, so that the first sale does not
	 * take longer than others.
	 */
	void open() {
		lowestFreeSeat();
		this.jdbc.update("INSERT INTO sales (seat, sold_to) SELECT 0, ? FROM seats WHERE number = 0", name());
		this.setup.servers().forEach((server) -> {
			try (RedisConnection connection = new RedisConnection(server.port(), Duration.ofSeconds(5))) {
				connection.call("PING");
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		});
	}

	void ask() {
		if (!this.waiting) {
			this.waiting = true;
			this.busy = false;
			this.reporter.report("asked");
		}
	}

	/** Reports that another shop is inside. */
	public void busy() {
		if (!this.busy) {
			this.busy = true;
			this.reporter.report("busy");
		}
	}

	/** Reports that this shop is inside, for as long as it likes. */
	public void acquired() {
		acquired(null, null, false);
	}

	/**
	 * Reports that this shop is inside.
	 * @param leaseEnd the end of its lease, in the time of {@code System.nanoTime()}
	 */
	public void acquired(long leaseEnd) {
		acquired(leaseEnd, null, false);
	}

	/**
	 * Reports that this shop is inside.
	 * @param leaseEnd the end of its lease, in the time of {@code System.nanoTime()}, or
	 * null if it has none
	 * @param token the fencing token, if there is one
	 * @param watched whether the shop knows by its own clock when its lease is over
	 */
	public void acquired(@Nullable Long leaseEnd, @Nullable Long token, boolean watched) {
		this.waiting = false;
		String name = name() + "/" + HOLDS.incrementAndGet();
		this.hold.set(name);
		this.reporter.report("acquired", "hold", name, "token", token, "leaseMillis",
				(leaseEnd != null) ? this.setup.ttlMillis() : null, "leaseEnd", leaseEnd, "watched",
				watched ? true : null);
		this.points.reach("acquired");
	}

	/**
	 * Reports that the lease of the hold was renewed.
	 * @param leaseEnd the end of the lease, in the time of {@code System.nanoTime()}
	 */
	public void renewed(long leaseEnd) {
		this.reporter.report("renewed", "hold", this.hold.get(), "leaseEnd", leaseEnd);
	}

	/** Reports that the work is done and this shop leaves. */
	public void released() {
		String present = this.hold.getAndSet(null);
		if (present != null) {
			this.reporter.report("released", "hold", present);
		}
		this.points.reach("released");
	}

	/**
	 * Reports that this shop has learnt that it lost its lock.
	 * @param text by what
	 */
	public void lost(String text) {
		String present = this.hold.getAndSet(null);
		if (present != null) {
			this.reporter.report("lost", "hold", present, "text", text);
		}
	}

	/**
	 * Reports that a write was refused.
	 * @param seat the seat
	 * @param text by whom
	 */
	public void refused(@Nullable Integer seat, String text) {
		this.waiting = false;
		this.reporter.report("refused", "hold", this.hold.getAndSet(null), "seat", seat, "text", text);
	}

	void failed(Throwable ex) {
		leave();
		this.reporter.report("failed", "text", ex.getClass().getSimpleName() + ": " + ex.getMessage());
	}

	/** The work has failed: this shop does no more inside. */
	private void leave() {
		String present = this.hold.getAndSet(null);
		if (present != null) {
			this.reporter.report("believes", "hold", present, "text", "An exception ended the work");
		}
	}

	/**
	 * Waits here if the lab holds this shop at this point.
	 * @param point the name of the point
	 */
	public void reach(String point) {
		this.points.reach(point);
	}

	/**
	 * Sells a seat: offers the lowest one that is free, waits for the payment, and writes
	 * the sale.
	 */
	public void sellSeat() {
		Integer seat = lowestFreeSeat();
		if (seat != null) {
			awaitPayment();
			writeSale(seat);
		}
	}

	/**
	 * Returns the lowest seat that is free.
	 * @return the seat, or null if all are sold
	 */
	public @Nullable Integer lowestFreeSeat() {
		Integer seat = this.jdbc.queryForObject(
				"SELECT MIN(number) FROM seats WHERE NOT EXISTS (SELECT 1 FROM sales WHERE seat = seats.number)",
				Integer.class);
		this.soldOut = seat == null;
		return seat;
	}

	/** Waits until the customer has paid. */
	public void awaitPayment() {
		this.points.reach("paying");
		pause(PAYMENT_MILLIS);
		if (this.failingWork) {
			this.failingWork = false;
			leave();
			throw new IllegalStateException("The payment was declined");
		}
	}

	/**
	 * Writes that a seat was sold. In a transaction, this counts when it is committed.
	 * @param seat the seat
	 */
	public void writeSale(int seat) {
		String order = name() + "/" + ++this.orders;
		this.jdbc.update("INSERT INTO sales (seat, sold_to) VALUES (?, ?)", seat, order);
		String present = this.hold.get();
		Runnable report = () -> this.reporter.report("sold", "hold", present, "seat", seat, "order", order);
		if (TransactionSynchronizationManager.isActualTransactionActive()) {
			TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					report.run();
				}

			});
		}
		else {
			report.run();
		}
		this.waiting = false;
	}

	/**
	 * Reports an event of another kind.
	 * @param type the type of the event
	 * @param details names and values
	 */
	public void report(String type, @Nullable Object... details) {
		this.reporter.report(type, details);
	}

	void failNextWork() {
		this.failingWork = true;
	}

	boolean isSoldOut() {
		return this.soldOut;
	}

	static void pause(long millis) {
		try {
			Thread.sleep(millis);
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("Interrupted", ex);
		}
	}

	@Override
	public void close() {
		this.connections.forEach(Redis::close);
		this.database.dispose();
	}

}
