package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.github.lockspring.LockRequest;
import io.github.lockspring.internal.engine.EngineSettings;
import io.github.lockspring.internal.engine.LockEngine;
import io.github.lockspring.internal.engine.support.LockEvents;
import io.github.lockspring.jdbc.JdbcLockStore;

/**
 * This project's locks in a table. The store has ten connections as the others have, one
 * of which is for renewals and one for notifications.
 */
final class LockspringJdbcAdapter implements LockAdapter {

	private static final Duration WAIT_TIME = Duration.ofMinutes(1);

	private final HikariDataSource pool;

	private final JdbcLockStore store;

	private final LockEngine engine;

	LockspringJdbcAdapter(Servers servers) {
		EngineSettings defaults = EngineSettings.defaults();
		EngineSettings settings = new EngineSettings(servers.ttl(), WAIT_TIME, defaults.maxHold(),
				defaults.commandTimeout(), defaults.shutdownTimeout(), false);
		this.pool = JdbcPool.open(servers);
		this.store = JdbcLockStore.builder(this.pool).connections(9).connectTimeout(Duration.ofSeconds(10)).build();
		this.engine = new LockEngine(this.store, settings, LockEvents.NOBODY);
	}

	@Override
	public void runLocked(String key, Runnable section) {
		this.engine.template().executeWithoutResult(LockRequest.of(key), (lock) -> section.run());
	}

	@Override
	public void close() {
		this.engine.close();
		this.store.close();
		this.pool.close();
	}

}
