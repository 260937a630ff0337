package io.github.lockspring.benchmarks.adapter;

import java.util.concurrent.locks.Lock;

import com.zaxxer.hikari.HikariDataSource;

import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * Spring Integration's registry in a table, with its defaults: it tries again after 100
 * ms. Its documentation advises the addition to the statement for PostgreSQL.
 */
final class SpringIntegrationJdbcAdapter implements LockAdapter {

	private final HikariDataSource pool;

	private final JdbcLockRegistry registry;

	SpringIntegrationJdbcAdapter(Servers servers) {
		this.pool = JdbcPool.open(servers);
		DefaultLockRepository repository = new DefaultLockRepository(this.pool);
		repository.setInsertQuery(repository.getInsertQuery() + " ON CONFLICT DO NOTHING");
		repository.setTransactionManager(new JdbcTransactionManager(this.pool));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		repository.start();
		this.registry = new JdbcLockRegistry(repository, servers.ttl());
	}

	@Override
	public void runLocked(String key, Runnable section) {
		Lock lock = this.registry.obtain(key);
		lock.lock();
		try {
			section.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
