package io.github.lockspring.lab.server;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import org.h2.tools.Server;

/**
 * The database of one sale: a concert and its seats, and what was sold. It is in the
 * memory of this JVM, and shops connect over TCP. What it says about double sales is the
 * truth, whatever a shop believes. Used by one thread.
 */
public final class SeatDatabase implements AutoCloseable {

	/** Labs of the same JVM share its databases. */
	private static final AtomicInteger NUMBER = new AtomicInteger();

	private final String name;

	private final Server server;

	private final Connection connection;

	/**
	 * Opens the database.
	 * @param seats the number of seats
	 */
	public SeatDatabase(int seats) {
		this.name = "sale-" + ProcessHandle.current().pid() + "-" + NUMBER.incrementAndGet();
		try {
			this.connection = DriverManager.getConnection("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1", "sa", "");
			try (Statement statement = this.connection.createStatement()) {
				statement.execute("CREATE TABLE concert (id INT PRIMARY KEY)");
				statement.execute("INSERT INTO concert VALUES (1)");
				statement.execute("CREATE TABLE seats (number INT PRIMARY KEY, version INT NOT NULL)");
				statement.execute("INSERT INTO seats SELECT x, 0 FROM SYSTEM_RANGE(1, " + seats + ")");
				statement.execute("CREATE TABLE sales (number BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
						+ " seat INT NOT NULL, sold_to VARCHAR(40) NOT NULL)");
				statement.execute("CREATE INDEX sales_seat ON sales (seat)");
			}
			System.setProperty("h2.bindAddress", "127.0.0.1");
			this.server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon").start();
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The database of the sale does not start", ex);
		}
	}

	/**
	 * Returns the URL for other processes. A wait for a row ends after 600 ms.
	 * @return the JDBC URL
	 */
	public String url() {
		return "jdbc:h2:tcp://127.0.0.1:" + this.server.getPort() + "/mem:" + this.name + ";LOCK_TIMEOUT=600";
	}

	/**
	 * Returns the number of sales.
	 * @return the number of sales
	 */
	public int sold() {
		return number("SELECT COUNT(*) FROM sales");
	}

	/**
	 * Returns the number of seats that were sold more than once.
	 * @return the number of seats
	 */
	public int soldTwice() {
		return number("SELECT COUNT(*) FROM (SELECT seat FROM sales GROUP BY seat HAVING COUNT(*) > 1)");
	}

	private int number(String sql) {
		try (Statement statement = this.connection.createStatement(); ResultSet result = statement.executeQuery(sql)) {
			result.next();
			return result.getInt(1);
		}
		catch (SQLException ex) {
			throw new IllegalStateException("The sales cannot be counted", ex);
		}
	}

	@Override
	public void close() {
		this.server.stop();
		try (Statement statement = this.connection.createStatement()) {
			statement.execute("SHUTDOWN");
		}
		catch (SQLException ex) {
			// the memory is freed with the JVM
		}
	}

}
