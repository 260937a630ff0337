package io.github.lockspring.benchmarks.adapter;

import java.time.Duration;
import java.time.Instant;

import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;

import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/**
 * ShedLock's provider for Redis. It never waits: it is made for scheduled jobs, where who
 * comes second goes away.
 */
final class ShedLockAdapter implements LockAdapter {

	private final LettuceConnectionFactory factory;

	private final LockProvider provider;

	private final Duration ttl;

	private ShedLockAdapter(Servers servers, boolean safe) {
		this.factory = LettuceFactories.started(servers);
		this.provider = new RedisLockProvider.Builder(this.factory).environment(safe ? "safe" : "default")
			.safeUpdate(safe)
			.build();
		this.ttl = servers.ttl();
	}

	static LockAdapter plain(Servers servers) {
		return new ShedLockAdapter(servers, false);
	}

	static LockAdapter safe(Servers servers) {
		return new ShedLockAdapter(servers, true);
	}

	@Override
	public void runLocked(String key, Runnable section) {
		runLocked(this.provider, this.ttl, key, section);
	}

	/** Runs a section under a lock of any provider. */
	static void runLocked(LockProvider provider, Duration ttl, String key, Runnable section) {
		SimpleLock lock = provider.lock(new LockConfiguration(Instant.now(), key, ttl, Duration.ZERO))
			.orElseThrow(() -> new IllegalStateException("Lock '" + key + "' is busy: ShedLock does not wait"));
		try {
			section.run();
		}
		finally {
			lock.unlock();
		}
	}

	@Override
	public void close() {
		this.factory.destroy();
	}

}
