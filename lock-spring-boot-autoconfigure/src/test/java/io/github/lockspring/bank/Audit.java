package io.github.lockspring.bank;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

import javax.sql.DataSource;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The bank's books. Each transfer writes a line into the ledger in the transaction that
 * changes the balances, so that what a balance must be is known without a stop: one
 * statement reads both at the same moment.
 */
final class Audit {

	private static final String READ_ALL = """
			SELECT 'account' AS kind, CAST(id AS VARCHAR(60)) AS id, 0 AS source, 0 AS target, balance AS amount
			FROM accounts UNION ALL SELECT 'transfer', id, source, target, amount FROM ledger""";

	private final JdbcTemplate jdbc;

	private final long[] expected;

	private long transfers;

	/**
	 * Opens a bank.
	 * @param database where
	 * @param accounts how many accounts there are
	 * @param initial what is in each
	 */
	Audit(DataSource database, int accounts, long initial) {
		this.jdbc = new JdbcTemplate(database);
		this.expected = new long[accounts];
		this.jdbc.execute("DROP TABLE IF EXISTS accounts");
		this.jdbc.execute("DROP TABLE IF EXISTS ledger");
		this.jdbc.execute("CREATE TABLE accounts (id INT PRIMARY KEY, balance BIGINT NOT NULL)");
		this.jdbc.execute("CREATE TABLE ledger (id VARCHAR(60) PRIMARY KEY, source INT NOT NULL,"
				+ " target INT NOT NULL, amount BIGINT NOT NULL)");
		for (int i = 0; i < accounts; i++) {
			this.expected[i] = initial;
			this.jdbc.update("INSERT INTO accounts (id, balance) VALUES (?, ?)", i, initial);
		}
	}

	/** How many transfers of either account the ledger has since the last audit. */
	int transfersOf(int account, int other) {
		return Objects.requireNonNull(
				this.jdbc.queryForObject("SELECT COUNT(*) FROM ledger WHERE source IN (?, ?) OR target IN (?, ?)",
						Integer.class, account, other, account, other));
	}

	/** Transfers that were committed, up to the last audit. */
	long transfers() {
		return this.transfers;
	}

	/**
	 * Reads the books, and clears the ledger of what was read.
	 * @return what they say
	 */
	Books check() {
		List<Object[]> read = new ArrayList<>();
		long[] balances = new long[this.expected.length];
		this.jdbc.query(READ_ALL, (row) -> {
			if (row.getString("kind").equals("account")) {
				balances[row.getInt("id")] = row.getLong("amount");
				return;
			}
			read.add(new Object[] { row.getString("id") });
			this.expected[row.getInt("source")] -= row.getLong("amount");
			this.expected[row.getInt("target")] += row.getLong("amount");
		});
		this.transfers += read.size();
		this.jdbc.batchUpdate("DELETE FROM ledger WHERE id = ?", read);
		List<Long> differences = new ArrayList<>();
		for (int i = 0; i < balances.length; i++) {
			differences.add(balances[i] - this.expected[i]);
		}
		return new Books(differences);
	}

	/**
	 * What an audit found.
	 *
	 * @param differences how much each account has more than the ledger says
	 */
	record Books(List<Long> differences) {

		boolean areRight() {
			return this.differences.stream().allMatch((difference) -> difference == 0);
		}

		/** What was made, or, negative, lost: the sum of all accounts never changes. */
		long made() {
			return this.differences.stream().mapToLong(Long::longValue).sum();
		}

		@Override
		public String toString() {
			return areRight() ? "each account has what the ledger says"
					: "differences " + this.differences + ": " + ((made() < 0) ? "lost " : "made ") + Math.abs(made());
		}

	}

}
