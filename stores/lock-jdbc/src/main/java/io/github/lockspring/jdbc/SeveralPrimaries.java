package io.github.lockspring.jdbc;

import java.sql.SQLException;
import java.util.Map;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of databases in which several servers accept writes: a lease then ends by the
 * clock of whichever server is asked.
 */
final class SeveralPrimaries {

	private static final Logger logger = LoggerFactory.getLogger(SeveralPrimaries.class);

	/** Their names by the texts that their versions contain. */
	private static final Map<String, String> NAMES = Map.of("CockroachDB", "CockroachDB", "-YB-", "YugabyteDB", "wsrep",
			"Galera");

	private static final NamedStatement VERSION = NamedStatement.parse("SELECT version()");

	private SeveralPrimaries() {
	}

	static void warn(JdbcCall call) {
		try {
			String version = call.query(VERSION, Map.of(), (result) -> result.getString(1)).orElse("");
			NAMES.forEach((part, name) -> {
				if (version.contains(part)) {
					logger
						.warn("The database of the locks is {} ({}), whose servers all accept writes: a lease ends early"
								+ " if the clock of one is ahead, and has two holders then. Synchronize the clocks, or keep"
								+ " the locks in a database with one primary (@LockDataSource)", name, version);
				}
			});
		}
		catch (SQLException ex) {
			logger.debug("The version of the database is unknown", ex);
		}
	}

}
