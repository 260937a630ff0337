package io.github.lockspring.benchmarks.adapter;

import com.zaxxer.hikari.HikariDataSource;

/**
 * Pools of connections to PostgreSQL, one for each library.
 */
final class JdbcPool {

	private static final int DEFAULT_CONNECTIONS = 10;

	private JdbcPool() {
	}

	/**
	 * Opens a pool with HikariCP's default of ten connections.
	 */
	static HikariDataSource open(Servers servers) {
		return open(servers, DEFAULT_CONNECTIONS);
	}

	static HikariDataSource open(Servers servers, int connections) {
		HikariDataSource pool = new HikariDataSource();
		pool.setJdbcUrl(servers.postgres());
		pool.setUsername("postgres");
		pool.setMaximumPoolSize(connections);
		// 64 threads share it
		pool.setConnectionTimeout(60_000);
		return pool;
	}

}
