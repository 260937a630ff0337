package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock's provider for databases, with the clock of the server. It never waits.
 */
final class ShedLockJdbcAdapter implements LockAdapter {

	private final HikariDataSource pool;

	private final LockProvider provider;

	private final Duration ttl;

	ShedLockJdbcAdapter(Servers servers) {
		this.pool = JdbcPool.open(servers);
		this.provider = new JdbcTemplateLockProvider(JdbcTemplateLockProvider.Configuration.builder()
			.withJdbcTemplate(new JdbcTemplate(this.pool))
			.usingDbTime()
			.build());
		this.ttl = servers.ttl();
	}

	@Override
	public void runLocked(String key, Runnable section) {
		ShedLockAdapter.runLocked(this.provider, this.ttl, key, section);
	}

	@Override
	public void close() {
		this.pool.close();
	}

}
